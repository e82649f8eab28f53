"""Accounts and keys in memory: which stay when there are too many, and when memory may say "no such key"."""

from bullion.accounts.account import Account
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.clients import Clients
from bullion.catalogue.source import Changes, Entry, ExtraReads
from bullion.environment import Environment
from bullion.keys.key import Key, Scope


def account(number: int) -> Account:
    return Account(
        number, "main", f"c{number}", None, "retail", active=True, api_access=True, production_trading=False
    )


def key(number: int, of_account: int | None = None) -> Key:
    owner = number if of_account is None else of_account
    scopes = frozenset(Scope)
    return Key(f"{number:016x}", "main", owner, Environment.TEST, "a key", scopes, bytes(32), (), 0)


def client(number: int) -> list[Entry]:
    return [account(number), key(number)]


class Memory:
    """A catalogue that keeps eight things, and makes room once there are more than nine."""

    def __init__(self, kept_max: int = 8) -> None:
        self.catalogue = Catalogue(clients=Clients(kept_max))
        self.clients = self.catalogue.clients

    def load(self, *entries: Entry, ends_at: int | None = None) -> None:
        self.catalogue.apply(Changes(1, 0, entries, whole=True, page_ends_at=ends_at), 0)

    def take(self, *entries: Entry, ends_at: int | None = None) -> None:
        self.catalogue.apply(Changes(1, 0, entries, page_ends_at=ends_at), 0)

    def complete(self) -> bool:
        return self.clients.complete

    def fills_after(self) -> int | None:
        return self.clients.fill_after

    @property
    def numbers(self) -> set[int]:
        return {int(key_id, 16) for key_id in self.catalogue.keys}


def test_memory_that_holds_them_all_says_so() -> None:
    memory = Memory()
    assert not memory.complete()
    memory.load(*client(1), *client(2), ends_at=2)
    assert not memory.complete()
    assert memory.fills_after() == 2
    memory.take(*client(3), ends_at=None)
    assert memory.complete()
    assert memory.fills_after() is None


def test_it_is_filled_no_further_than_it_holds() -> None:
    memory = Memory(kept_max=3)
    memory.load(*client(1), ends_at=1)
    assert memory.fills_after() == 1
    memory.take(*client(2), ends_at=2)
    assert memory.fills_after() is None
    assert not memory.complete()


def test_what_just_fits_is_complete() -> None:
    memory = Memory(kept_max=4)
    memory.load(*client(1), *client(2), ends_at=2)
    memory.take(ends_at=None)
    assert memory.complete()


def test_those_who_called_stay_when_room_is_made() -> None:
    memory = Memory()
    memory.load(*(entry for number in range(1, 5) for entry in client(number)), ends_at=4)
    memory.clients.mark_used([key(1).key_id, key(3).key_id])
    memory.take(*client(5))
    assert {1, 3} <= memory.numbers
    assert not {2, 4} & memory.numbers
    assert not memory.complete()


def test_there_is_an_account_for_each_key() -> None:
    memory = Memory()
    memory.load(*client(1), *client(2), ends_at=9)
    for number in range(3, 40):
        memory.take(key(100 + number, of_account=number), *client(number))
        assert {each.account_id for each in memory.catalogue.keys.values()} <= set(memory.catalogue.accounts)
        assert len(memory.catalogue.accounts) + len(memory.catalogue.keys) <= 9


def test_room_is_made_even_if_everyone_has_called() -> None:
    memory = Memory()
    for number in range(1, 40):
        memory.take(*client(number))
        memory.clients.mark_used([key(number).key_id])
        assert len(memory.catalogue.accounts) + len(memory.catalogue.keys) <= 9
    assert 39 in memory.numbers


def test_whoever_was_asked_for_is_there_afterwards_whoever_has_to_go() -> None:
    memory = Memory(kept_max=4)
    memory.load(*client(1), *client(2), ends_at=2)
    memory.clients.mark_used([key(number).key_id for number in (2, 3, 4, 5)])
    crowd = [entry for number in (1, 3, 4, 5) for entry in client(number)]
    wanted = ExtraReads(keys=[key(1).key_id], accounts=[7])
    memory.catalogue.apply(Changes(1, 0, [*crowd, account(6), account(7)]), 0, wanted)
    assert memory.numbers == {1}
    assert {1, 7} <= set(memory.catalogue.accounts)
    assert 6 not in memory.catalogue.accounts


def test_accounts_without_keys_go_first_and_leave_memory_complete() -> None:
    memory = Memory()
    memory.load(*client(1), *client(2), *map(account, range(10, 20)))
    assert memory.numbers == {1, 2}
    assert set(memory.catalogue.accounts) == {1, 2}
    assert memory.complete()


def test_accounts_without_keys_do_not_end_the_filling() -> None:
    memory = Memory()
    memory.load(*client(1), *map(account, range(10, 17)), ends_at=16)
    assert memory.fills_after() == 16
    memory.take(*client(20), ends_at=None)
    assert memory.numbers == {1, 20}
    assert memory.complete()


def test_memory_that_has_dropped_one_no_longer_holds_them_all() -> None:
    memory = Memory()
    memory.load(*(entry for number in range(1, 5) for entry in client(number)))
    assert memory.complete()
    memory.take(*client(5))
    assert not memory.complete()
    memory.load(*client(1))
    assert memory.complete()
    assert memory.numbers == {1}


def test_who_calls_is_not_noted_while_nobody_has_to_go() -> None:
    memory = Memory()
    memory.load(*client(1))
    memory.clients.mark_used([key(1).key_id])
    memory.take(*(entry for number in range(2, 6) for entry in client(number)))
    assert 1 not in memory.numbers
