"""Entries about brokers, accounts, their keys, and users of the desk."""

from collections.abc import Callable, Iterator

from .parts import (
    Ref,
    Sentence,
    State,
    Told,
    changed_fields,
    changed_flags,
    other_changes,
    write_number,
    write_plain,
    write_weight,
)


def tell_broker(told: Told) -> Iterator[Sentence]:
    if not told.before:
        yield [f"broker {told.subject} created: {told.after['name']}"]
    else:
        yield from changed_fields(
            told, ["broker: "], {"name": ("name", write_plain), "hosts": ("hosts", write_plain)}
        )


def tell_move(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def tell(told: Told) -> Iterator[Sentence]:
        yield [f"broker {told.subject} {what} {told.after['store']}"]

    return tell


_ACCOUNT_FLAGS = {
    "active": ("activated", "deactivated"),
    "api_access": ("API access on", "API access off"),
    "production_trading": ("production trading on", "production trading off"),
    "scenarios": ("test scenarios on", "test scenarios off"),
}
_ACCOUNT_FIELDS = {
    "group": ("group", write_plain),
    "firm_name": ("firm", write_plain),
    "allocation.gold": ("gold allocation", write_weight("g")),
    "allocation.silver": ("silver allocation", write_weight("kg")),
}
_ACCOUNT_KNOWN = {*_ACCOUNT_FLAGS, *_ACCOUNT_FIELDS, "allocation", "login_id", "created_at"}


def tell_account(told: Told) -> Iterator[Sentence]:
    ref = Ref("account", told.subject, told.subject)
    begin: Sentence = [ref, ": "]
    if not told.before:
        firm = told.after.get("firm_name")
        yield ["account ", ref, f" created in group {told.after['group']}", f", {firm}" if firm else ""]
        usual = {"active": True, "api_access": False, "production_trading": False, "scenarios": False}
        shown = told._replace(before={**usual, "group": told.after["group"], "firm_name": firm})
    else:
        shown = told
    yield from changed_flags(shown, begin, _ACCOUNT_FLAGS)
    yield from changed_fields(shown, begin, _ACCOUNT_FIELDS)
    yield from other_changes(shown, begin, _ACCOUNT_KNOWN)


def tell_reset(told: Told) -> Iterator[Sentence]:
    orders = told.before.get("orders", 0)
    yield [
        Ref("account", told.subject, told.subject),
        f": test book reset, {write_number(orders)} test orders archived",
    ]


def _key_ref(key: State) -> Ref:
    return Ref("key", f"{key['login_id']} {key['key_id']}", key["key_id"])


def tell_issue(told: Told) -> Iterator[Sentence]:
    key = told.after
    login = Ref("account", key["login_id"], key["login_id"])
    scopes = write_plain(key["scopes"])
    yield [login, ": API key ", _key_ref(key), f" issued for {key['environment']}, “{key['name']}”: {scopes}"]


def tell_rotate(told: Told) -> Iterator[Sentence]:
    old, new = told.after["replaced"], told.after["successor"]
    login = Ref("account", old["login_id"], old["login_id"])
    yield [login, ": API key ", _key_ref(old), " replaced by ", _key_ref(new)]


def tell_revoke(told: Told) -> Iterator[Sentence]:
    key = told.after
    login = Ref("account", key["login_id"], key["login_id"])
    again = " (it was revoked before)" if told.before.get("revoked_at") else ""
    yield [login, ": API key ", _key_ref(key), f" revoked{again}"]


def tell_webhook(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_webhook(told: Told) -> Iterator[Sentence]:
        webhook = told.after or told.before
        login = Ref("account", webhook["login_id"], webhook["login_id"])
        number = webhook.get("replaying")
        much = "" if number is None else f": {write_number(number)}"
        yield [login, f": {webhook['environment']} webhook to {webhook['url']} {what}{much}"]

    return told_webhook


def _user(told: Told) -> Ref:
    token_id = str(told.after.get("token_id") or told.before.get("token_id") or told.subject)
    name = told.after.get("name") or told.before.get("name")
    return Ref("user", token_id, str(name or token_id))


def tell_new_user(told: Told) -> Iterator[Sentence]:
    yield ["user ", _user(told), f" created as {told.after['role']}"]


def tell_changed_user(told: Told) -> Iterator[Sentence]:
    begin: Sentence = ["user ", _user(told), ": "]
    yield from changed_fields(told, begin, {"name": ("name", write_plain), "role": ("role", write_plain)})


def tell_about_user(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_user(told: Told) -> Iterator[Sentence]:
        yield ["user ", _user(told), f": {what}"]

    return told_user


def tell_ended_sessions(told: Told) -> Iterator[Sentence]:
    yield ["user ", _user(told), f": {told.before.get('sessions', 0)} sessions of the console ended"]


def tell_factor_rule(told: Told) -> Iterator[Sentence]:
    who = {"off": "nobody", "admins": "admins", "all": "everybody"}
    yield [f"a second factor is needed by {who[told.after['required']]}"]
