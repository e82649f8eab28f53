"""A real nginx and a real haproxy, with the configurations that docs/deployment.md shows."""

import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.docs.markdown import ROOT, blocks

from .servers import find, free_port, wait_for_port

_PAGE = ROOT / "docs/deployment.md"
_SHOWN = ("10.0.0.11:8000", "10.0.0.12:8000")
"""The nodes of the page. Further ones get lines like that of the last."""
_NGINX = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {shown}
}}
"""


def nginx_configuration(folder: Path, port: int, nodes: Sequence[str]) -> str:
    shown = _block("nginx", "map $http_x_api_key $bullion_lane {", nodes)
    shown = _exchange(shown, r"listen 443 ssl;", f"listen 127.0.0.1:{port};")
    shown = _exchange(shown, r"ssl_certificate\w* .*;\n", "")
    return _NGINX.format(folder=folder, shown=shown)


def haproxy_configuration(port: int, nodes: Sequence[str]) -> str:
    shown = _block("text", "defaults", nodes)
    return _exchange(shown, r"bind :443 ssl crt .*\n", f"bind 127.0.0.1:{port}\n") + "\n"


@contextlib.contextmanager
def proxies(nodes: Sequence[str]) -> Iterator[list[str]]:
    """The addresses of both, in front of two or more nodes given as host and port."""
    folder = Path(tempfile.mkdtemp(prefix="bullion-proxies-"))
    ports = [free_port(), free_port()]
    files = [folder / "nginx.conf", folder / "haproxy.cfg"]
    files[0].write_text(nginx_configuration(folder, ports[0], nodes), "utf-8")
    files[1].write_text(haproxy_configuration(ports[1], nodes), "utf-8")
    commands = [[find("nginx"), "-c", str(files[0])], [find("haproxy"), "-db", "-f", str(files[1])]]
    with contextlib.ExitStack() as stack, (folder / "output").open("wb") as output:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for command, port in zip(commands, ports, strict=True):
            process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
            stack.callback(_end, process)
            wait_for_port(port, Path(command[0]).name)
        yield [f"http://127.0.0.1:{port}" for port in ports]


def _block(language: str, begins: str, nodes: Sequence[str]) -> str:
    (text,) = [
        block.text for block in blocks(_PAGE) if block.language == language and block.text.startswith(begins)
    ]
    lines = text.splitlines()
    for number, node in enumerate(nodes[len(_SHOWN) :]):
        (last,) = [place for place, line in enumerate(lines) if _SHOWN[-1] in line]
        line = lines[last].replace(_SHOWN[-1], node).replace("server two ", f"server more{number} ")
        lines.insert(last + 1 + number, line)
    text = "\n".join(lines)
    for shown, node in zip(_SHOWN, nodes, strict=False):
        text = _exchange(text, re.escape(shown), node)
    return text


def _exchange(text: str, pattern: str, other: str) -> str:
    changed, times = re.subn(pattern, other, text)
    assert times, f"docs/deployment.md does not show {pattern}"
    return changed


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
