"""Accounts: made once, changed field by field, read by list and by login."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.desk import Office, nothing_changed

FULL = {
    "login_id": "Aurum_1@mehta.example-x",
    "firm_name": "Aurum Jewellers",
    "group": "retail",
    "active": False,
    "api_access": False,
    "production_trading": True,
    "scenarios": True,
    "allocation": {"gold": "1000.5000", "silver": "0.0001"},
}


def test_every_field_comes_back(office: Office) -> None:
    made = office.desk.request("POST", "/accounts", json=FULL)
    assert made.status_code == 201
    account = made.json()
    created_at = datetime.fromisoformat(account.pop("created_at"))
    assert account == FULL
    assert created_at.tzinfo == UTC
    assert abs(datetime.now(UTC) - created_at) < timedelta(minutes=1)


def test_what_is_left_out_has_its_default(office: Office) -> None:
    account = office.desk.do("POST", "/accounts", {"login_id": "bare", "group": "retail"})
    del account["created_at"]
    assert account == {
        "login_id": "bare",
        "firm_name": None,
        "group": "retail",
        "active": True,
        "api_access": True,
        "production_trading": False,
        "scenarios": False,
        "allocation": {"gold": "0.0000", "silver": "0.0000"},
    }


@pytest.mark.parametrize("role", ["viewer", "dealer"])
def test_who_may_not_allow_scenarios(office: Office, role: str) -> None:
    office.desk.account("hopeful")
    caller = office.hire(role)
    with nothing_changed(office.desk):
        body = {"scenarios": True}
        caller.refused("PATCH", "/accounts/hopeful", body, status=403, code="role_too_low")


def test_allowing_scenarios_is_in_the_trail(office: Office) -> None:
    office.desk.account("trailed")
    office.desk.do("PATCH", "/accounts/trailed", {"scenarios": True})
    entry = office.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("patch_account", "trailed")
    assert (entry["before"]["scenarios"], entry["after"]["scenarios"]) == (False, True)


def test_one_is_read_by_its_login_and_in_the_list(office: Office) -> None:
    made = [office.desk.account(login_id) for login_id in ("b", "a", "c")]
    assert office.desk.do("GET", "/accounts/b") == made[0]
    assert office.desk.all("/accounts") == sorted(made, key=lambda account: str(account["login_id"]))


def test_a_login_that_exists_is_a_conflict(office: Office) -> None:
    office.desk.account("taken", firm_name="The first")
    with nothing_changed(office.desk):
        body = {"login_id": "taken", "group": "retail", "firm_name": "The second"}
        message = office.desk.refused("POST", "/accounts", body, status=409, code="conflict")
    assert "taken" in message


def test_of_several_who_make_the_same_account_at_once_one_wins(office: Office) -> None:
    callers = [office.hire("admin") for _ in range(4)]
    body = {"login_id": "raced", "group": "retail"}
    with ThreadPoolExecutor(len(callers)) as pool:
        answers = list(pool.map(lambda caller: caller.post("/accounts", json=body), callers))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert len(office.desk.all("/accounts")) == 1


def test_the_same_login_may_exist_at_two_brokers(office: Office, other: Office) -> None:
    office.desk.account("both", firm_name="Ours")
    other.desk.account("both", firm_name="Theirs")
    assert office.desk.do("GET", "/accounts/both")["firm_name"] == "Ours"
    assert other.desk.do("GET", "/accounts/both")["firm_name"] == "Theirs"


@pytest.mark.parametrize("method", ["GET", "PATCH"])
@pytest.mark.parametrize("login_id", ["nobody", "CLIENT", "client%00", "client%0A", "%FF", "%20", "x" * 500])
def test_there_is_no_such_account(standing: Office, method: str, login_id: str) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused(method, f"/accounts/{login_id}", {}, status=404, code="not_found")
    assert message == "There is no such account on this broker."


@pytest.mark.parametrize(
    "change",
    [
        {"firm_name": "Another"},
        {"firm_name": None},
        {"firm_name": ""},
        {"group": "trade"},
        {"active": False},
        {"api_access": False},
        {"production_trading": True},
        {"scenarios": True},
        {"active": False, "production_trading": True},
        {"allocation": {"gold": "1.0000", "silver": "2.0000"}},
        {},
    ],
    ids=str,
)
def test_a_patch_changes_what_it_names_and_no_more(office: Office, change: dict[str, Any]) -> None:
    office.desk.do("PUT", "/groups/trade", {})
    before = office.desk.account("patched", firm_name="A Firm")
    patched = office.desk.do("PATCH", "/accounts/patched", change)
    assert patched == before | change
    assert office.desk.do("GET", "/accounts/patched") == patched


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"gold": "5"}, {"gold": "5.0000", "silver": "20.0000"}),
        ({"silver": "0"}, {"gold": "10.0000", "silver": "0.0000"}),
        ({}, {"gold": "10.0000", "silver": "20.0000"}),
    ],
)
def test_one_metal_of_the_allocation_may_change_alone(
    office: Office, change: dict[str, str], after: dict[str, str]
) -> None:
    office.desk.account("metals", allocation={"gold": "10", "silver": "20"})
    office.desk.do("PATCH", "/accounts/metals", {"allocation": change})
    assert office.desk.do("GET", "/accounts/metals")["allocation"] == after


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": ({"colour": "red"}, "colour"),
    "an unknown group": ({"group": "nowhere"}, "nowhere"),
    "no group": ({"group": None}, "group"),
    "a number for the firm": ({"firm_name": 7}, "firm_name"),
    "a firm's name of 201 letters": ({"firm_name": "x" * 201}, "firm_name"),
    "a word for a switch": ({"active": "yes"}, "active"),
    "null for a switch": ({"api_access": None}, "api_access"),
    "a number for a switch": ({"production_trading": 1}, "production_trading"),
    "a word for the scenarios": ({"scenarios": "on"}, "scenarios"),
    "no allocation": ({"allocation": None}, "allocation"),
    "an allocation in words": ({"allocation": "much"}, "allocation"),
    "an unknown metal": ({"allocation": {"platinum": "1"}}, "platinum"),
    "a float for a limit": ({"allocation": {"gold": 1.5}}, "gold"),
    "null for a limit": ({"allocation": {"silver": None}}, "silver"),
    "a negative limit": ({"allocation": {"gold": "-1"}}, "allocation.gold: must be from 0 to 1000000000."),
    "too many decimals": ({"allocation": {"silver": "0.00001"}}, "allocation.silver"),
    "a limit out of bounds": ({"allocation": {"gold": "1000000000.0001"}}, "allocation.gold"),
    "when it was made": ({"created_at": "2026-01-01T00:00:00+00:00"}, "created_at"),
}


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@pytest.mark.parametrize(("change", "named"), BAD.values(), ids=BAD)
def test_a_bad_field_is_refused_by_name(
    standing: Office, method: str, change: dict[str, Any], named: str
) -> None:
    with nothing_changed(standing.desk):
        if method == "POST":
            new = {"login_id": "new", "group": "retail", **change}
            message = standing.desk.refused("POST", "/accounts", new)
        else:
            message = standing.desk.refused("PATCH", "/accounts/client", change)
    assert named in message


@pytest.mark.parametrize(
    "login_id", ["", " ", "a b", "a/b", "-a", ".a", "@a", "é", "x" * 65, "a\x00", "a\n", None, 7]
)
def test_a_login_that_is_none_is_refused(standing: Office, login_id: object) -> None:
    with nothing_changed(standing.desk):
        body = {"login_id": login_id, "group": "retail"}
        assert "login_id" in standing.desk.refused("POST", "/accounts", body)


def test_a_login_lasts(standing: Office) -> None:
    with nothing_changed(standing.desk):
        assert "login_id" in standing.desk.refused("PATCH", "/accounts/client", {"login_id": "other"})


@pytest.mark.parametrize("missing", ["login_id", "group"])
def test_login_and_group_must_be_there(standing: Office, missing: str) -> None:
    body = {"login_id": "new", "group": "retail"}
    del body[missing]
    with nothing_changed(standing.desk):
        assert missing in standing.desk.refused("POST", "/accounts", body)


def test_another_brokers_group_is_unknown(office: Office, other: Office) -> None:
    other.desk.do("PUT", "/groups/theirs", {})
    office.desk.account("client")
    with nothing_changed(office.desk):
        office.desk.refused("POST", "/accounts", {"login_id": "new", "group": "theirs"})
        office.desk.refused("PATCH", "/accounts/client", {"group": "theirs"})
