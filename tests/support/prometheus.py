"""A Prometheus of a test's own, which scrapes a node and evaluates its alert rules."""

import json
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx

from .node import until
from .servers import find, free_port

_START_S = 30


@dataclass
class Prometheus:
    target: str
    """Host and port of what is scraped, as the job `bullion`."""
    rules: str
    every: str = "1s"
    port: int = field(default_factory=free_port)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="bullion-prometheus-")))
    process: subprocess.Popen[bytes] | None = None
    # One client: to make one loads certificates, which takes longer than a query.
    http: httpx.Client = field(default_factory=lambda: httpx.Client(verify=False, timeout=20))

    def start(self) -> Self:
        program = find("prometheus")
        (self.folder / "rules.yml").write_text(self.rules, "utf-8")
        # JSON is YAML.
        config = {
            "global": {
                "scrape_interval": self.every,
                "scrape_timeout": self.every,
                "evaluation_interval": self.every,
            },
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": "bullion", "static_configs": [{"targets": [self.target]}]}],
        }
        (self.folder / "prometheus.yml").write_text(json.dumps(config), "utf-8")
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [
                    program,
                    f"--config.file={self.folder}/prometheus.yml",
                    f"--storage.tsdb.path={self.folder}/data",
                    f"--web.listen-address=127.0.0.1:{self.port}",
                ],
                stdout=log,
                stderr=log,
            )
        until(self._ready, _START_S)
        return self

    def remove(self) -> None:
        self.http.close()
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an instant query; fails if Prometheus refuses the query."""
        answer = self.http.get(f"{self._url}/api/v1/query", params={"query": expression})
        assert answer.status_code == 200, f"{expression}: {answer.text}"
        found: list[dict[str, Any]] = answer.json()["data"]["result"]
        return found

    def firing(self) -> set[str]:
        return {sample["metric"]["alertname"] for sample in self.query('ALERTS{alertstate="firing"}')}

    def errors(self) -> list[str]:
        """What Prometheus says of rules that it could not evaluate."""
        answer = self.http.get(f"{self._url}/api/v1/rules").json()
        rules = [rule for group in answer["data"]["groups"] for rule in group["rules"]]
        assert rules
        return [rule["lastError"] for rule in rules if rule.get("lastError")]

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text("utf-8")
        try:
            return self.http.get(f"{self._url}/-/ready").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False


def metric_names(expression: str) -> set[str]:
    """The metrics of ours that a query reads, without the suffixes of histograms."""
    found = re.findall(r"\bbullion_[a-z_]+", expression)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in found}
