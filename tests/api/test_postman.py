"""The Postman collection: whole, in the order of the environments, and without a key."""

import json
import re
from collections.abc import Iterator
from typing import Any

from bullion.api.openapi import openapi, postman_collection

Json = dict[str, Any]

DESCRIPTION = openapi()
COLLECTION = postman_collection(DESCRIPTION)
FOLDERS = {folder["name"]: folder for folder in COLLECTION["item"]}
VARIABLES = {variable["key"] for variable in COLLECTION["variable"]}
BASES = {"Test": "/api/trading/test/v1/", "Production": "/api/trading/v1/", "Service": "/"}


def items() -> Iterator[tuple[str, Json]]:
    for name, folder in FOLDERS.items():
        for item in folder["item"]:
            yield name, item


def test_the_test_environment_comes_first() -> None:
    assert list(FOLDERS) == ["Test", "Production", "Service"]


def test_every_operation_is_there_once_under_a_name_of_its_own() -> None:
    named = [item["name"] for _, item in items()]
    described = [
        operation["summary"] for path in DESCRIPTION["paths"].values() for operation in path.values()
    ]
    assert sorted(named) == sorted(described)
    assert len(set(named)) == len(named)
    ids = [operation["operationId"] for path in DESCRIPTION["paths"].values() for operation in path.values()]
    assert len(set(ids)) == len(ids)


def test_it_has_the_structure_of_version_2_1() -> None:
    info = COLLECTION["info"]
    assert info["schema"].endswith("/collection/v2.1.0/collection.json")
    assert info["name"]
    assert {variable["type"] for variable in COLLECTION["variable"]} == {"string"}
    for folder, item in items():
        request, url = item["request"], item["request"]["url"]
        assert set(item) <= {"name", "request", "response", "event"}
        assert request["method"] in ("GET", "POST", "PATCH", "PUT", "DELETE")
        assert url["host"] == ["{{base_url}}"]
        assert url["raw"] == "{{base_url}}/" + "/".join(url["path"])
        assert url["raw"].startswith("{{base_url}}" + BASES[folder])
        assert all(set(header) >= {"key", "value"} for header in request["header"])
        if "body" in request:
            assert request["body"]["mode"] == "raw"
            assert isinstance(json.loads(request["body"]["raw"]), dict)


def test_each_environment_has_its_own_key_and_none_is_filled_in() -> None:
    for folder, key in (("Test", "{{test_key}}"), ("Production", "{{live_key}}")):
        auth = FOLDERS[folder]["auth"]
        values = {each["key"]: each["value"] for each in auth[auth["type"]]}
        assert values == {"key": "X-API-Key", "value": key, "in": "header"}
    assert {variable["value"] for variable in COLLECTION["variable"] if variable["key"].endswith("_key")} == {
        ""
    }


def test_what_it_uses_is_a_variable_and_an_order_has_a_new_key_each_time() -> None:
    used = set(re.findall(r"{{([^$}]+)}}", json.dumps(COLLECTION["item"])))
    assert used <= VARIABLES
    for folder, item in items():
        if item["request"]["method"] == "POST" and item["request"]["url"]["path"][-1] == "orders":
            headers = {each["key"]: each for each in item["request"]["header"]}
            assert headers["Idempotency-Key"]["value"] == "{{$guid}}"
            assert not headers["Idempotency-Key"]["disabled"]
            assert folder in ("Test", "Production")
