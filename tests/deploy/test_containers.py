"""The Containerfile, compose file and Kubernetes manifests: checked by their linters and against the service.

There is no container engine in these tests: nothing here is built or run in one.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from bullion.__main__ import main as command_line
from bullion.settings import _READERS, SECRET_FILES, Settings, read_settings
from bullion.workers import worker_pool
from tests.docs.markdown import blocks
from tests.support.node import Node, shared
from tools.release.distributions import ROOT

DEPLOY = ROOT / "deploy"
CONTAINERFILE = DEPLOY / "container/Containerfile"
COMPOSE = DEPLOY / "compose/compose.yaml"
NGINX = DEPLOY / "compose/nginx.conf"
KUBERNETES = DEPLOY / "kubernetes"
MANIFESTS = sorted(file for file in KUBERNETES.glob("*.yaml") if file.name != "kustomization.yaml")
PROGRAMS = Path(sys.executable).parent
PORTS = {8000: "port", 8001: "desk_port", 8002: "console_port"}
USER = "64801"
YAML_STYLE = (
    "{extends: default, rules: "
    "{line-length: {max: 160}, document-start: disable, truthy: {check-keys: false}}}"
)


def load(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def resources(kind: str) -> list[dict[str, Any]]:
    every = [each for file in MANIFESTS for each in yaml.safe_load_all(file.read_text("utf-8"))]
    return [each for each in every if each["kind"] == kind]


def lint(program: str, *words: str | Path) -> None:
    done = subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def installed(program: str) -> Path:
    found = shutil.which(program, path="/usr/sbin:/usr/bin:/usr/local/bin")
    if found is None:
        pytest.skip(f"{program} is not installed")
    return Path(found)


# --- Linters --------------------------------------------------------------------------------------------


def test_hadolint_accepts_the_containerfile() -> None:
    lint("hadolint", CONTAINERFILE)


def test_the_compose_file_keeps_its_schema() -> None:
    lint("check-jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE)


def test_the_manifests_keep_the_schemas_of_kubernetes() -> None:
    """In one run: to start the program takes longer than to check a file."""
    lint("kubernetes-validate", "--strict", "--quiet", *MANIFESTS)


def test_yamllint_accepts_every_file() -> None:
    lint("yamllint", "--strict", "--config-data", YAML_STYLE, DEPLOY)


def test_promtool_accepts_the_configuration(tmp_path: Path) -> None:
    promtool = installed("promtool")
    config = DEPLOY / "compose/prometheus.yml"
    subprocess.run([promtool, "check", "config", "--syntax-only", config], capture_output=True, check=True)


def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    nginx = installed("nginx")
    # The names of the nodes are known to the engine alone.
    text = NGINX.read_text("utf-8").replace("node1:", "127.0.0.1:")
    own = f"pid {tmp_path}/pid; error_log stderr;\n"
    (tmp_path / "nginx.conf").write_text(own + text.replace("node2:", "127.0.0.2:"), "utf-8")
    command: list[str | Path] = [nginx, "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_shell_script_makes_settings_that_are_read(tmp_path: Path) -> None:
    shutil.copy(DEPLOY / "compose/secrets.sh", tmp_path)
    for _ in range(2):
        subprocess.run([tmp_path / "secrets.sh"], check=True)
        secrets = {file.name: file.read_text("utf-8") for file in (tmp_path / "secrets").iterdir()}
    assert secrets.keys() == load(COMPOSE)["secrets"].keys()
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0
    named = {
        name: value.replace("/run/secrets", str(tmp_path / "secrets"))
        for name, value in load(COMPOSE)["x-bullion"]["environment"].items()
    }
    settings = read_settings(named, tmp_path / "none")
    assert settings.shared
    assert secrets["postgres_password"].strip() in settings.database_url
    subprocess.run([tmp_path / "secrets.sh"], check=True)
    assert {file.name: file.read_text("utf-8") for file in (tmp_path / "secrets").iterdir()} == secrets


# --- Against the service --------------------------------------------------------------------------------


def services() -> dict[str, dict[str, Any]]:
    return {name: each for name, each in load(COMPOSE)["services"].items() if "bullion" in each["image"]}


def deployments() -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in (*resources("Deployment"), *resources("Job"))]


def commands() -> Iterator[str]:
    yield from (each["command"][0] for each in services().values())
    yield from (each["containers"][0]["args"][0] for each in deployments())
    yield json.loads(re.findall(r"(?m)^CMD (\[.*\])$", CONTAINERFILE.read_text("utf-8"))[0])[0]


def test_every_command_exists() -> None:
    assert set(commands()) == {"serve", "console", "migrate"}
    assert set(commands()) <= set(command_line.commands)


def test_every_setting_that_is_named_exists() -> None:
    known = set(_READERS) | set(SECRET_FILES)
    for file in (CONTAINERFILE, COMPOSE, *MANIFESTS):
        text = re.sub(r"(?m)^ *#.*$", "", file.read_text("utf-8"))
        assert set(re.findall(r"BULLION_[A-Z_]*[A-Z]", text)) <= known, file


def test_kubernetes_adds_no_variables_to_those_of_the_settings() -> None:
    for pod in deployments():
        assert pod["enableServiceLinks"] is False


def test_every_secret_file_is_mounted() -> None:
    for each in services().values():
        named = {name: value for name, value in each["environment"].items() if name in SECRET_FILES}
        assert set(named.values()) == {f"/run/secrets/{secret}" for secret in each["secrets"]}
    (config,), (secret,) = resources("ConfigMap"), resources("Secret")
    named = {name: value for name, value in config["data"].items() if name in SECRET_FILES}
    assert set(named.values()) == {f"/run/secrets/bullion/{name}" for name in secret["stringData"]}
    for pod in deployments():
        mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounts["secrets"] == "/run/secrets/bullion"
        assert mounts.keys() == {volume["name"] for volume in pod["volumes"]}


def test_the_settings_of_the_manifests_are_read(tmp_path: Path) -> None:
    (config,), (secret,) = resources("ConfigMap"), resources("Secret")
    for name, value in secret["stringData"].items():
        (tmp_path / name).write_text(value)
    named = {
        name: value.replace("/run/secrets/bullion", str(tmp_path)) for name, value in config["data"].items()
    }
    assert read_settings(named, tmp_path / "none").shared


def test_the_ports_are_those_of_the_service() -> None:
    usual = {getattr(Settings(), name) for name in PORTS.values()}
    assert usual == set(PORTS)
    (exposed,) = re.findall(r"(?m)^EXPOSE (.*)$", CONTAINERFILE.read_text("utf-8"))
    assert {int(port) for port in exposed.split()} == usual
    for each in resources("Service"):
        assert {port["port"] for port in each["spec"]["ports"]} <= usual
    named = {
        port["name"]: port["containerPort"]
        for pod in deployments()
        for port in pod["containers"][0].get("ports", [])
    }
    assert named == {"api": 8000, "desk": 8001, "console": 8002}
    targets = load(DEPLOY / "compose/prometheus.yml")["scrape_configs"][0]["static_configs"][0]["targets"]
    assert targets == [f"{name}:{Settings().desk_port}" for name in services() if name.startswith("node")]


def test_only_the_proxy_and_pages_for_people_are_published_and_on_loopback() -> None:
    published = {
        name: port for name, each in load(COMPOSE)["services"].items() for port in each.get("ports", [])
    }
    assert published.keys() == {"proxy", "console", "prometheus", "grafana"}
    assert all(port.startswith("127.0.0.1:") for port in published.values())


def test_a_stop_has_the_time_that_it_needs() -> None:
    for each in services().values():
        drain_s = int(each["environment"]["BULLION_DRAIN_S"])
        assert int(each["stop_grace_period"].rstrip("s")) > drain_s + worker_pool._GRACE_S
    (config,) = resources("ConfigMap")
    (node,) = [pod for pod in deployments() if pod["containers"][0]["args"] == ["serve"]]
    drain_s = int(config["data"]["BULLION_DRAIN_S"])
    assert node["terminationGracePeriodSeconds"] > drain_s + worker_pool._GRACE_S


def test_nginx_is_set_as_in_the_example_of_the_documentation() -> None:
    """The tests of the nodes try that example."""
    (shown,) = [each.text for each in blocks(ROOT / "docs/deployment.md") if "upstream bullion" in each.text]
    own = NGINX.read_text("utf-8")
    parts = re.compile(r"^ *(?:map|upstream) .*?^ *}|proxy_(?!pass).*?;", re.MULTILINE | re.DOTALL)
    wanted = [_plain(each) for each in parts.findall(shown)]
    assert len(wanted) > 2
    assert [_plain(each) for each in parts.findall(own)] == wanted


def _plain(configuration: str) -> str:
    """Without what must differ: addresses and indentation."""
    return " ".join(re.sub(r"\b(10\.0\.0\.1|node)\d+:", "", configuration).split())


def test_nothing_runs_as_root_or_writes_to_the_image() -> None:
    text = CONTAINERFILE.read_text("utf-8")
    assert f"--uid {USER}" in text
    assert f"\nUSER {USER}:{USER}\n" in text.partition("\nFROM ${PYTHON_IMAGE}\n")[2]
    for each in services().values():
        assert each["read_only"] is True
        assert each["cap_drop"] == ["ALL"]
    for pod in deployments():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert str(pod["securityContext"]["runAsUser"]) == USER
        assert pod["containers"][0]["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_the_budget_and_the_policies_select_the_pods() -> None:
    labels = [
        each["spec"]["template"]["metadata"]["labels"]
        for each in (*resources("Deployment"), *resources("Job"))
    ]
    selectors = [each["spec"]["selector"]["matchLabels"] for each in resources("PodDisruptionBudget")]
    selectors += [each["spec"]["selector"] for each in resources("Service")]
    selectors += [each["spec"]["podSelector"]["matchLabels"] for each in resources("NetworkPolicy")]
    assert len(selectors) == 8
    for selector in selectors:
        assert any(selector.items() <= found.items() for found in labels), selector


def _may_call(part: str, address: str, port: int) -> bool:
    """Whether the network policies let pods of this part call this address outside of the cluster."""
    labels, to = {"app": "bullion", "part": part}, ip_address(address)
    blocks = [
        peer["ipBlock"]
        for policy in resources("NetworkPolicy")
        if policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
        for rule in policy["spec"].get("egress", [])
        if any(each["port"] <= port <= each.get("endPort", each["port"]) for each in rule["ports"])
        for peer in rule.get("to", [{"ipBlock": {"cidr": "0.0.0.0/0"}}, {"ipBlock": {"cidr": "::/0"}}])
        if "ipBlock" in peer
    ]
    return any(
        to in ip_network(block["cidr"]) and not any(to in ip_network(net) for net in block.get("except", []))
        for block in blocks
    )


def test_nodes_reach_the_receivers_of_webhooks_and_no_private_address() -> None:
    for address in ("8.8.8.8", "2606:4700::1111"):
        for port in (443, 1024, 8443, 65535):
            assert _may_call("node", address, port)
            assert not _may_call("console", address, port)
        assert not _may_call("node", address, 25)
        assert _may_call("console", address, 5432)
    private = ("10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "fd00::1", "fe80::1")
    for address in private:
        assert not _may_call("node", address, 443)
        assert not _may_call("node", address, 8443)


def test_the_kustomization_lists_every_file() -> None:
    assert set(load(KUBERNETES / "kustomization.yaml")["resources"]) == {file.name for file in MANIFESTS}


def test_the_image_is_built_from_what_is_there() -> None:
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"]
    assert [name for name in kept if not (ROOT / name).exists()] == []
    for name in re.findall(r"-r (\S+\.txt)", CONTAINERFILE.read_text("utf-8")):
        assert name in kept


# --- Health checks, on a real node ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with shared(tmp_path_factory.mktemp("node")) as started:
        yield started


def test_the_health_check_of_the_image_passes_on_a_node_and_fails_without(node: Node) -> None:
    (words,) = re.findall(r"(?m)^    CMD (\[.*\])$", CONTAINERFILE.read_text("utf-8"))
    program, option, code = json.loads(words)
    assert (program, option) == ("python", "-c")
    port = node.api_url.rpartition(":")[2]
    for used, expected in ((port, 0), ("1", 1)):
        changed = code.replace(":8000/", f":{used}/")
        assert changed != code
        done = subprocess.run([sys.executable, "-c", changed], stderr=subprocess.DEVNULL, check=False)
        assert done.returncode == expected


def test_the_probes_ask_for_pages_that_are_there(node: Node) -> None:
    paths = {
        pod["containers"][0][probe]["httpGet"]["path"]
        for pod in deployments()
        for probe in ("startupProbe", "readinessProbe", "livenessProbe")
        if probe in pod["containers"][0]
    }
    assert paths == {"/health/live", "/health/ready"}
    with node.api() as api:
        assert {api.get(path).status_code for path in paths} == {200}
