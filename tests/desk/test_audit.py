"""The audit trail: one entry for each write, none for a refused one, newest first."""

from datetime import datetime
from typing import Any

from tests.support.desk import KEY, SYMBOL, Caller, Office, nothing_changed, unique

CHANGE_BY_USE = ("last_used_at", "sessions", "second_factor")
"""Fields of a token that the trail does not record."""


def newest(desk: Caller) -> Any:
    return desk.do("GET", "/audit?limit=1")["items"][0]


def total(desk: Caller) -> int:
    return int(desk.do("GET", "/audit?limit=1")["total"])


def without(view: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name not in fields}


class Watch:
    """Does one write after the other and holds each against the entry it left."""

    def __init__(self, office: Office) -> None:
        self.desk = office.desk
        self.actor = f"an admin ({office.admin_token['token_id']})"

    def write(self, method: str, path: str, body: Any = None) -> tuple[Any, Any]:
        """The answer, and the one entry."""
        before = total(self.desk)
        answer = self.desk.do(method, path, body)
        assert total(self.desk) == before + 1
        entry = newest(self.desk)
        assert entry["ordinal"] == before + 1
        assert entry["actor"] == self.actor
        assert datetime.fromisoformat(entry["at"]).utcoffset() is not None
        return answer, entry


def said(entry: Any) -> tuple[str, str, Any, Any]:
    return entry["action"], entry["subject"], entry["before"], entry["after"]


def test_symbols_leave_one_entry_each(office: Office) -> None:
    watch = Watch(office)
    made, entry = watch.write("PUT", "/symbols/GOLD", SYMBOL)
    assert said(entry) == ("put_symbol", "GOLD", None, made)
    again, entry = watch.write("PUT", "/symbols/GOLD", SYMBOL | {"step": "1", "stock": "7"})
    assert said(entry) == ("put_symbol", "GOLD", made, again)
    patched, entry = watch.write("PATCH", "/symbols/GOLD", {"frozen": True, "stock": None})
    assert said(entry) == ("patch_symbol", "GOLD", again, patched)
    assert (entry["before"]["stock"], entry["after"]["stock"]) == ("7.0000", None)


def test_groups_leave_one_entry_each(office: Office) -> None:
    watch = Watch(office)
    made, entry = watch.write("PUT", "/groups/trade", {"terms": {"GOLD": {"buy_premium": "5"}}})
    assert said(entry) == ("put_group", "trade", None, made)
    again, entry = watch.write("PUT", "/groups/trade", {"trading": False})
    assert said(entry) == ("put_group", "trade", made, again)


def test_accounts_leave_one_entry_each(office: Office) -> None:
    watch = Watch(office)
    made, entry = watch.write("POST", "/accounts", {"login_id": "client", "group": "retail"})
    assert said(entry) == ("create_account", "client", None, made)
    patched, entry = watch.write("PATCH", "/accounts/client", {"allocation": {"gold": "5"}, "active": False})
    assert said(entry) == ("patch_account", "client", made, patched)


def test_keys_leave_one_entry_each_without_the_secret(office: Office) -> None:
    watch = Watch(office)
    office.desk.account("client")
    issued, entry = watch.write("POST", "/accounts/client/keys", KEY)
    key_id = issued["key_id"]
    assert said(entry) == ("issue_key", f"client {key_id}", None, without(issued, "key"))
    successor, entry = watch.write("POST", f"/keys/{key_id}/rotate", {"overlap_s": 60})
    action, subject, before, after = said(entry)
    assert (action, subject, before) == ("rotate_key", key_id, without(issued, "key"))
    assert after["successor"] == without(successor, "key")
    assert after["replaced"]["replaced_by"] == successor["key_id"]
    assert after["replaced"]["overlap_ends_at"] > issued["created_at"]
    revoked, entry = watch.write("POST", f"/keys/{key_id}/revoke")
    assert entry["before"]["replaced_by"] == successor["key_id"]
    assert said(entry) == ("revoke_key", key_id, {**revoked, "revoked_at": None}, revoked)


def test_a_switch_leaves_one_entry(office: Office) -> None:
    watch = Watch(office)
    before = office.desk.do("GET", "/switches")
    after, entry = watch.write("PATCH", "/switches", {"paused": True, "halted": True})
    assert said(entry) == ("patch_switches", "halted, paused", before, after)


def test_tokens_leave_one_entry_each_without_the_secret(office: Office) -> None:
    watch = Watch(office)
    made, entry = watch.write("POST", "/tokens", {"name": "Anjali", "role": "dealer"})
    token_id = made["token_id"]
    trailed = without(made, "token", *CHANGE_BY_USE)
    assert said(entry) == ("create_token", f"Anjali {token_id}", None, trailed)
    deleted, entry = watch.write("DELETE", f"/tokens/{token_id}")
    assert said(entry) == ("delete_token", token_id, trailed, without(deleted, *CHANGE_BY_USE))


def test_a_broker_leaves_its_entries_in_its_own_trail(office: Office, first: Caller) -> None:
    made = {"tag": office.broker, "name": "A Broker", "hosts": [f"{office.broker}.example"]}
    after = first.do("PUT", f"/brokers/{office.broker}", {"name": "Renamed"})
    entry = newest(office.desk)
    assert said(entry) == ("put_broker", office.broker, made, after)
    assert entry["actor"] == "first token"
    assert said(office.desk.all("/audit")[-1]) == ("put_broker", office.broker, None, made)


def test_whoever_did_it_is_named(office: Office) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    made = office.desk.do("POST", "/tokens", {"name": "Ravi", "role": "dealer"})
    office.caller(made["token"]).do("PATCH", "/symbols/GOLD", {"frozen": True})
    assert newest(office.desk)["actor"] == f"Ravi ({made['token_id']})"


def test_refused_writes_leave_no_entry(standing: Office, key_id: str) -> None:
    desk, stranger = standing.desk, standing.caller(standing.admin_token["token"][:-1])
    with nothing_changed(desk):
        desk.refused("PUT", "/symbols/GOLD", SYMBOL | {"step": "0"})
        desk.refused("PATCH", "/symbols/NONE", {"frozen": True}, status=404, code="not_found")
        desk.refused("POST", "/accounts", {"login_id": "x", "group": "none"})
        body = {"login_id": "client", "group": "retail"}
        desk.refused("POST", "/accounts", body, status=409, code="conflict")
        desk.refused("PUT", "/brokers/x", {"name": "X"}, status=403, code="role_too_low")
        desk.refused("POST", f"/keys/{'0' * 16}/revoke", {}, status=404, code="not_found")
        desk.refused("DELETE", "/accounts/client", status=405, code="method_not_allowed")
        stranger.refused("PATCH", "/switches", {"halted": True}, status=401, code="token_required")


def test_reading_leaves_no_entry(standing: Office) -> None:
    before = total(standing.desk)
    standing.desk.state()
    assert total(standing.desk) == before


def test_the_newest_comes_first_and_pages_fit_together(office: Office) -> None:
    for number in range(5):
        office.desk.account(f"client{number}")
    everything = office.desk.do("GET", "/audit?limit=200")
    ordinals = [entry["ordinal"] for entry in everything["items"]]
    assert ordinals == list(range(everything["total"], 0, -1))
    assert [entry["subject"] for entry in everything["items"][:5]] == [f"client{n}" for n in (4, 3, 2, 1, 0)]
    paged = []
    for offset in range(0, everything["total"], 3):
        page = office.desk.do("GET", f"/audit?limit=3&offset={offset}")
        assert page["total"] == everything["total"]
        paged += page["items"]
    assert paged == everything["items"]


def test_an_entry_says_what_it_is_chained_to(office: Office) -> None:
    hashes = [entry["hash"] for entry in office.desk.all("/audit")]
    assert len(set(hashes)) == len(hashes)
    assert all(len(each) == 64 and int(each, 16) >= 0 for each in hashes)


def test_text_in_an_entry_is_kept_as_it_is(office: Office) -> None:
    name = 'सोना "A" \\ <b>'
    office.desk.account("client", firm_name=name)
    assert newest(office.desk)["after"]["firm_name"] == name


def test_the_trails_of_brokers_are_apart(office: Office, other: Office, first: Caller) -> None:
    before, mains = total(other.desk), total(first)
    office.desk.account(unique("client"))
    assert (total(other.desk), total(first)) == (before, mains)


def test_rates_duties_and_resets_leave_one_entry_each(office: Office) -> None:
    watch = Watch(office)
    made, entry = watch.write("PUT", "/rates/GOLD", {"bid": "2", "ask": "2.01"})
    assert said(entry) == ("put_rate", "GOLD", None, without(made, "age_s", "taken"))
    again, entry = watch.write("PUT", "/rates/GOLD", {"bid": "2", "ask": "2"})
    assert said(entry)[2:] == (without(made, "age_s", "taken"), without(again, "age_s", "taken"))
    late, entry = watch.write("PUT", "/rates/GOLD", {"bid": "3", "ask": "3", "at": "2020-01-01"})
    assert late["taken"] is False
    assert entry["before"] == entry["after"] == without(again, "age_s", "taken")
    made, entry = watch.write("PUT", "/duties/gold", [{"from": "2026-05-13", "rupees": "5"}])
    assert said(entry) == ("put_duty", "gold", None, without(made, "in_force"))
    again, entry = watch.write("PUT", "/duties/gold", [{"from": "2026-05-14", "rupees": "5"}])
    assert said(entry) == ("put_duty", "gold", without(made, "in_force"), without(again, "in_force"))
    office.desk.account("client")
    empty, entry = watch.write("POST", "/accounts/client/test-book/reset")
    assert said(entry) == ("reset_test_book", "client", empty, empty)
