"""TLS for a PostgreSQL server of the tests."""

import os
import subprocess
from pathlib import Path

from .servers import Postgres, find


def offer_tls(server: Postgres) -> Path:
    """Have the server offer TLS as `localhost`; the certificate to check it by."""
    key, certificate = server.folder / "server.key", server.folder / "server.crt"
    request = [find("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    request += ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*request, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    owner = (server.folder / "data").stat()
    for file in (key, certificate):
        os.chown(file, owner.st_uid, owner.st_gid)
    key.chmod(0o600)
    for name, value in (("ssl_cert_file", certificate), ("ssl_key_file", key), ("ssl", "on")):
        server.sql(f"ALTER SYSTEM SET {name} = '{value}'")
    server.sql("SELECT pg_reload_conf()")
    return certificate
