"""Brokers: made by the first token alone, named by tag, found by host."""

import pytest

from tests.support.desk import Caller, Office, nothing_changed, unique


def test_a_broker_is_made_and_listed(first: Caller) -> None:
    tag = unique("made")
    body = {"name": "Mehta & Sons «Bullion»", "hosts": [f"api.{tag}.example", f"{tag}.example"]}
    made = first.do("PUT", f"/brokers/{tag}", body)
    assert made == {"tag": tag, **body}
    assert made in first.all("/brokers")


def test_the_answer_to_a_put_is_what_a_get_shows(first: Caller) -> None:
    tag = unique("ordered")
    made = first.do(
        "PUT", f"/brokers/{tag}", {"name": "Ordered", "hosts": [f"z.{tag}.example", f"a.{tag}.example"]}
    )
    assert made in first.all("/brokers")


def test_a_broker_needs_no_hosts(first: Caller) -> None:
    tag = unique("bare")
    assert first.do("PUT", f"/brokers/{tag}", {"name": "Bare"}) == {"tag": tag, "name": "Bare", "hosts": []}


def test_a_second_put_changes_name_and_hosts(first: Caller) -> None:
    tag = unique("renamed")
    first.do("PUT", f"/brokers/{tag}", {"name": "Before", "hosts": [f"old.{tag}.example"]})
    first.do("PUT", f"/brokers/{tag}", {"name": "After", "hosts": [f"new.{tag}.example"]})
    listed = {each["tag"]: each for each in first.all("/brokers")}
    assert listed[tag] == {"tag": tag, "name": "After", "hosts": [f"new.{tag}.example"]}


def test_hosts_are_kept_in_one_spelling_and_once(first: Caller) -> None:
    tag = unique("spelt")
    hosts = [f"API.{tag}.Example.", f"api.{tag}.example", "[2001:DB8::7]"]
    made = first.do("PUT", f"/brokers/{tag}", {"name": "Spelt", "hosts": hosts})
    assert made["hosts"] == ["2001:db8::7", f"api.{tag}.example"]
    first.do("PUT", f"/brokers/{tag}", {"name": "Spelt", "hosts": []})


def test_a_host_of_another_broker_is_a_conflict_and_nothing_is_taken(first: Caller, office: Office) -> None:
    taken = f"{office.broker}.example"
    tag = unique("taker")
    body = {"name": "Taker", "hosts": [f"{tag}.example", taken]}
    with nothing_changed(office.desk):
        first.refused("PUT", f"/brokers/{tag}", body, status=409, code="conflict")
    assert tag not in {each["tag"] for each in first.all("/brokers")}


def test_a_host_that_was_given_up_may_be_taken(first: Caller) -> None:
    giver, taker = unique("giver"), unique("taker")
    host = f"{giver}.example"
    first.do("PUT", f"/brokers/{giver}", {"name": "Giver", "hosts": [host]})
    first.do("PUT", f"/brokers/{giver}", {"name": "Giver", "hosts": []})
    assert first.do("PUT", f"/brokers/{taker}", {"name": "Taker", "hosts": [host]})["hosts"] == [host]


@pytest.mark.parametrize("role", ["viewer", "dealer", "admin"])
def test_only_the_first_token_may_put(office: Office, first: Caller, role: str) -> None:
    caller = office.hire(role)
    with nothing_changed(office.desk):
        caller.refused(
            "PUT", f"/brokers/{office.broker}", {"name": "Mine now"}, status=403, code="role_too_low"
        )
        tag = unique("new")
        caller.refused("PUT", f"/brokers/{tag}", {"name": "New"}, status=403, code="role_too_low")
    assert tag not in {each["tag"] for each in first.all("/brokers")}


def test_a_token_sees_its_own_broker_alone(office: Office, other: Office) -> None:
    seen = office.desk.do("GET", "/brokers")
    assert [each["tag"] for each in seen["items"]] == [office.broker]
    assert seen["total"] == 1


def test_the_first_token_sees_every_broker(first: Caller, office: Office, other: Office) -> None:
    tags = {each["tag"] for each in first.all("/brokers")}
    assert {"main", office.broker, other.broker} <= tags


def test_the_default_broker_is_there_from_the_start(first: Caller) -> None:
    listed = {each["tag"]: each for each in first.all("/brokers")}
    assert listed["main"]["name"] == "main"


@pytest.mark.parametrize(
    "tag",
    ["Upper", "-dash", "under_score", "dot.ted", "with%20space", "a" * 33, "%00", "tag%0A", "%C3%A9", "%2E"],
)
def test_a_tag_that_no_key_could_carry_is_refused(first: Caller, tag: str) -> None:
    message = first.refused("PUT", f"/brokers/{tag}", {"name": "A Broker"})
    assert message == "tag: use up to 32 of a-z, 0-9 and -, beginning with a letter or digit."


@pytest.mark.parametrize("tag", ["a", "7", "a" * 29 + "-1", "a-"])
def test_a_tag_within_the_rule_is_taken(first: Caller, tag: str) -> None:
    assert first.do("PUT", f"/brokers/{tag}", {"name": "A Broker"})["tag"] == tag


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "http://a.example",
        "a.example:8000",
        "a.example/path",
        "a b.example",
        "-a.example",
        "a_b.example",
        "a.example\x00",
        "a.example\n",
        "*.example",
        "é.example",
        "a" * 254,
        # What looks like an IPv6 address but is none is a name with a port, or a slip.
        "cafe:8000",
        ":::::",
        "[a.example]",
        "a..example",
    ],
)
def test_what_is_no_host_name_is_refused(first: Caller, host: str) -> None:
    tag = unique("hostless")
    message = first.refused("PUT", f"/brokers/{tag}", {"name": "Hostless", "hosts": [host]})
    assert "hosts" in message
    assert tag not in {each["tag"] for each in first.all("/brokers")}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": None}, "name"),
        ({"name": 7}, "name"),
        ({"name": "A\x00B"}, "name"),
        ({"name": "A\nB"}, "name"),
        ({"name": "A\n"}, "name"),
        ({"name": "\x1b[2J"}, "name"),
        ({"name": "A", "hosts": "a.example"}, "hosts"),
        ({"name": "A", "hosts": [7]}, "hosts"),
        ({"name": "A", "hosts": None}, "hosts"),
        ({"name": "A", "hosts": [f"h{number}.example" for number in range(51)]}, "hosts"),
        ({"name": "A", "tag": "b"}, "tag"),
        ({"name": "A", "colour": "red"}, "colour"),
    ],
)
def test_a_bad_broker_is_refused_by_name(first: Caller, body: object, named: str) -> None:
    tag = unique("bad")
    assert named in first.refused("PUT", f"/brokers/{tag}", body)
    assert tag not in {each["tag"] for each in first.all("/brokers")}


def test_a_host_leads_a_client_to_its_broker(office: Office, other: Office) -> None:
    office.desk.account("client")
    key = office.desk.key("client")["key"]
    assert office.me_code(key) == "ok"
    assert other.me_code(key) == "wrong_tenant"
