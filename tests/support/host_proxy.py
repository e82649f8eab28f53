"""A real nginx in front of two deployments, with the map of hosts that docs/scaling.md shows."""

import contextlib
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.docs.markdown import ROOT, blocks

from .proxies import _NGINX
from .servers import find, free_port, wait_for_port

_PAGE = ROOT / "docs/scaling.md"
_SERVER = """
server {{
    listen 127.0.0.1:{port};
    location / {{
        proxy_pass http://$bullion_deployment;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
    }}
}}
"""


def _configuration(folder: Path, port: int, nodes: Mapping[str, str], hosts: Mapping[str, str]) -> str:
    (shown,) = [
        block.text
        for block in blocks(_PAGE)
        if block.language == "nginx" and "map $host $bullion_deployment" in block.text
    ]
    for name, node in nodes.items():
        shown, times = re.subn(rf"(upstream {name} {{\n    server )[^;]+;", rf"\g<1>{node};", shown)
        assert times == 1, f"docs/scaling.md does not show the upstream {name}"
    entries = "".join(f"    {host} {name};\n" for host, name in hosts.items())
    shown, times = re.subn(r"(map \$host \$bullion_deployment \{\n)[^}]+", rf"\g<1>{entries}", shown)
    assert times == 1
    # With a master process, old connections end when other hosts are sent elsewhere.
    whole = _NGINX.replace("master_process off;", "worker_processes 1;")
    return whole.format(folder=folder, shown=shown + _SERVER.format(port=port))


@contextlib.contextmanager
def host_proxy(
    nodes: Mapping[str, str], hosts: Mapping[str, str]
) -> Iterator[tuple[str, Callable[[Mapping[str, str]], None]]]:
    """Its address, and a function that sends hosts to other deployments."""
    folder = Path(tempfile.mkdtemp(prefix="bullion-hosts-"))
    port, file = free_port(), folder / "nginx.conf"
    file.write_text(_configuration(folder, port, nodes, hosts), "utf-8")
    with contextlib.ExitStack() as stack, (folder / "output").open("wb") as output:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        process = subprocess.Popen([find("nginx"), "-c", str(file)], stdout=output, stderr=output, cwd=folder)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        wait_for_port(port, "nginx")

        def send(hosts: Mapping[str, str]) -> None:
            file.write_text(_configuration(folder, port, nodes, hosts), "utf-8")
            process.send_signal(signal.SIGHUP)

        yield f"http://127.0.0.1:{port}", send
