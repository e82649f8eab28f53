"""The file that BULLION_MARKET names: FIX lines, profiles of venues, and sources of live rates.

Secrets stand in the environment; the file only names them. Every mistake is reported at once, with its line.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from bullion.hedge.fix.profile import EXAMPLES, RESETTING, Line, Profile
from bullion.hedge.fix.schedule import Schedule, Timetable
from bullion.rates.feeds.source_settings import FeedSettings, GuardNumbers, Parity, SourceSettings
from bullion.settings import WrongSetting
from bullion.toml_file import Place, TomlFile, WrongFile, name_of

S = TypeVar("S", bound=msgspec.Struct)


class Messages(msgspec.Struct, frozen=True):
    """Where raw FIX messages are logged, with secrets masked."""

    folder: str = "var/fix"
    days: int = 7


class FeedNumbers(msgspec.Struct, frozen=True):
    """As in `FeedSettings`."""

    failover_s: int = 3
    return_s: int = 30
    switch_bps: int = 50
    urgent_bps: int = 5


class _File(msgspec.Struct, frozen=True):
    lines: dict[str, Line] = {}
    sources: dict[str, SourceSettings] = {}
    feed: FeedNumbers = FeedNumbers()
    guards: dict[str, GuardNumbers] = {}
    parities: tuple[Parity, ...] = ()
    messages: Messages = Messages()


class MarketSettings(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...] = ()
    feed: FeedSettings | None = None
    """None if there are no sources."""
    messages: Messages = Messages()

    def line_of(self, broker: str) -> Line | None:
        """The line that the broker's orders are sent over."""
        return next((each for each in self.lines if each.broker == broker), None)


def read_market_file(path: Path, environ: Mapping[str, str]) -> MarketSettings:
    """Raises WrongSetting, which names the file."""
    try:
        return read_market(path.read_text("utf-8"), environ)
    except OSError as error:
        raise WrongSetting(f"BULLION_MARKET: {path} cannot be read ({error.strerror}).") from error
    except UnicodeError:
        raise WrongSetting(f"BULLION_MARKET: {path} is not a text file in UTF-8.") from None
    except WrongFile as wrong:
        raise WrongSetting(f"BULLION_MARKET: {path} has mistakes:\n{wrong}") from None


def read_market(text: str, environ: Mapping[str, str]) -> MarketSettings:
    """Raises WrongFile."""
    file = TomlFile(text)
    _name_tables(file.tables)
    _insert_profiles(file)
    hours = _take_hours(file)
    found = file.read(file.tables, _File)
    readable = found or _readable(file.tables)
    _check_lines(file, readable, environ)
    _check_feed(file, readable, environ)
    file.raise_mistakes()
    numbers = msgspec.structs.asdict(readable.feed)
    sources = tuple(
        msgspec.structs.replace(each, hours=hours.get(name)) for name, each in readable.sources.items()
    )
    feed = FeedSettings(sources=sources, guards=readable.guards, parities=readable.parities, **numbers)
    return MarketSettings(
        tuple(readable.lines.values()), feed if readable.sources else None, readable.messages
    )


def _tables_of(tables: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The tables `[kind.name]`. What is not a table is reported when the file is read."""
    group = tables.get(kind)
    found = group.items() if isinstance(group, dict) else ()
    return {name: table for name, table in found if isinstance(table, dict)}


def _name_tables(tables: Mapping[str, Any]) -> None:
    for kind in ("profiles", "lines", "sources"):
        for name, table in _tables_of(tables, kind).items():
            table["name"] = name
    for table in _tables_of(tables, "lines").values():
        if table.get("tls") is False:
            table["tls"] = None


def _insert_profiles(file: TomlFile) -> None:
    """Replace each name of a profile by the profile itself; profiles may be based on earlier ones."""
    profiles = {name: msgspec.to_builtins(each) for name, each in EXAMPLES.items()}
    for name, table in _tables_of(file.tables, "profiles").items():
        base = _take_profile(file, table, ("profiles", name, "based_on"), profiles)
        profile = file.read(base | table, Profile, ("profiles", name))
        # A profile with mistakes, which are reported, counts as its base.
        profiles[name] = base if profile is None else msgspec.to_builtins(profile)
    file.tables.pop("profiles", None)
    for name, table in _tables_of(file.tables, "lines").items():
        place = ("lines", name, "profile")
        table["profile"] = _take_profile(file, table, place, profiles)


def _take_profile(
    file: TomlFile, table: dict[str, Any], place: tuple[str, str, str], profiles: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    named = table.pop(place[2], RESETTING.name)
    if not isinstance(named, str) or named not in profiles:
        expected = ", ".join(f'"{each}"' for each in profiles)
        file.add_mistake(place, f"{name_of(place)} is not a profile: expected one of: {expected}.")
        return profiles[RESETTING.name]
    return profiles[named]


def _readable(tables: Mapping[str, Any]) -> _File:
    """The tables without mistakes of form, of a file that has such mistakes: the others are checked, too."""

    def found(kind: str, shape: type[S]) -> dict[str, S]:
        readable: dict[str, S] = {}
        for name, table in _tables_of(tables, kind).items():
            with suppress(msgspec.ValidationError):  # Reported already.
                readable[name] = msgspec.convert(table, shape)
        return readable

    return _File(found("lines", Line), found("sources", SourceSettings), guards=found("guards", GuardNumbers))


def _take_hours(file: TomlFile) -> dict[str, Schedule]:
    """The timetables of sources, by source."""
    found: dict[str, Schedule] = {}
    for name, table in _tables_of(file.tables, "sources").items():
        place = ("sources", name, "timetable")
        timetable = file.read(table.pop("timetable", {}), Timetable, place)
        if timetable is not None and timetable.hours and _check_timetable(file, place, timetable):
            found[name] = Schedule(timetable)
    return found


def _check_timetable(file: TomlFile, place: Place, timetable: Timetable) -> bool:
    problems = list(timetable.problems())
    for each in problems:
        file.add_mistake(place, f"{name_of(place)}: {each}.")
    return not problems


def _check_lines(file: TomlFile, found: _File, environ: Mapping[str, str]) -> None:
    brokers: dict[str, str] = {}
    for name, line in found.lines.items():
        place = ("lines", name)
        _check_timetable(file, (*place, "timetable"), line.timetable)
        first = brokers.setdefault(line.broker, name)
        if first != name:
            message = f"lines.{name}.broker is {line.broker!r}, which the line {first} belongs to already."
            file.add_mistake((*place, "broker"), message)
        _check_secret(file, (*place, "password_env"), line.password_env, environ)


def _check_feed(file: TomlFile, found: _File, environ: Mapping[str, str]) -> None:
    for name, source in found.sources.items():
        for each in source.problems():
            file.add_mistake(("sources", name), f"sources.{name}: {each}.")
        _check_secret(file, ("sources", name, "secret_env"), source.secret_env or "", environ)
    instruments = {each.instrument for source in found.sources.values() for each in source.instruments}
    for instrument, guard in found.guards.items():
        for each in guard.problems():
            file.add_mistake(("guards", instrument), f"guards.{instrument}: {each}.")
        if found.sources and instrument not in instruments:
            file.add_mistake(("guards", instrument), f"guards.{instrument}: no source has this instrument.")
    for index, parity in enumerate(found.parities):
        for each in parity.problems():
            file.add_mistake(("parities", index), f"parities[{index + 1}]: {each}.")


def _check_secret(file: TomlFile, place: Place, variable: str, environ: Mapping[str, str]) -> None:
    if variable and not environ.get(variable):
        file.add_mistake(place, f"{name_of(place)}: the environment variable {variable} is not set.")
