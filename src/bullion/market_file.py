"""The file that BULLION_MARKET names: FIX lines, profiles of venues, and sources of live rates.

Secrets stand in the environment; the file only names them. Every mistake is reported at once, with its line.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from bullion.hedge.fix.profile import EXAMPLES, RESETTING, Line, Profile, Tls
from bullion.hedge.fix.schedule import Schedule, Timetable
from bullion.rates.feeds.source_settings import (
    ALIVE_S,
    FeedNumbers,
    FeedSettings,
    GuardNumbers,
    Parity,
    SourceSettings,
)
from bullion.settings import WrongSetting
from bullion.toml_file import Place, TomlFile, WrongFile, name_of

S = TypeVar("S", bound=msgspec.Struct)


class Messages(msgspec.Struct, frozen=True):
    """Where raw FIX messages are logged, with secrets masked."""

    folder: str = "var/fix"
    days: int = 7


class SourceLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The session of a source over FIX, as a `Line` has it."""

    host: str
    port: int
    sender: str
    target: str
    profile: Profile = RESETTING
    tls: Tls | None = Tls()
    username: str = ""
    password_env: str = ""
    heartbeat_s: int = 10
    """Instead of the profile's: silence must be noticed before a price is too old."""


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
    source_lines: dict[str, Line] = {}
    """Of sources over FIX, by their names. They belong to no broker."""

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
    timetables = _take_timetables(file)
    source_lines = _take_source_lines(file, environ)
    for name in source_lines.keys() & _tables_of(file.tables, "lines").keys():
        file.add_mistake(("lines", name), f"lines.{name}: a source over FIX has this name, too.")
    found = file.read(file.tables, _File)
    readable = found or _readable(file.tables)
    _check_lines(file, readable, environ)
    _check_feed(file, readable, environ)
    file.raise_mistakes()
    numbers = msgspec.structs.asdict(readable.feed)
    sources = tuple(
        msgspec.structs.replace(each, hours=Schedule(timetables[name]) if name in timetables else None)
        for name, each in readable.sources.items()
    )
    feed = FeedSettings(sources=sources, guards=readable.guards, parities=readable.parities, **numbers)
    return MarketSettings(
        tuple(readable.lines.values()),
        feed if readable.sources else None,
        readable.messages,
        {name: _line_of_source(name, each, timetables.get(name)) for name, each in source_lines.items()},
    )


def _line_of_source(name: str, line: SourceLine, timetable: Timetable | None) -> Line:
    profile = msgspec.structs.replace(line.profile, heartbeat_s=line.heartbeat_s)
    return Line(
        name=name,
        broker="",
        host=line.host,
        port=line.port,
        sender=line.sender,
        target=line.target,
        profile=profile,
        tls=line.tls,
        username=line.username,
        password_env=line.password_env,
        timetable=timetable or Timetable(),
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
    for _, table in _session_tables(tables):
        if table.get("tls") is False:
            table["tls"] = None


def _session_tables(tables: Mapping[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The tables of FIX sessions, with their places: those of lines, and those of sources."""
    for name, table in _tables_of(tables, "lines").items():
        yield ("lines", name), table
    for name, table in _tables_of(tables, "sources").items():
        if isinstance(table.get("line"), dict):
            yield ("sources", name, "line"), table["line"]


def _insert_profiles(file: TomlFile) -> None:
    """Replace each name of a profile by the profile itself; profiles may be based on earlier ones."""
    profiles = {name: msgspec.to_builtins(each) for name, each in EXAMPLES.items()}
    for name, table in _tables_of(file.tables, "profiles").items():
        base = _take_profile(file, table, ("profiles", name, "based_on"), profiles)
        profile = file.read(base | table, Profile, ("profiles", name))
        for problem in () if profile is None else profile.problems():
            file.add_mistake(("profiles", name), f"profiles.{name}: {problem}.")
        # A profile with mistakes, which are reported, counts as its base.
        profiles[name] = base if profile is None else msgspec.to_builtins(profile)
    file.tables.pop("profiles", None)
    for place, table in _session_tables(file.tables):
        table["profile"] = _take_profile(file, table, (*place, "profile"), profiles)


def _take_profile(
    file: TomlFile, table: dict[str, Any], place: Place, profiles: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    named = table.pop(str(place[-1]), RESETTING.name)
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


def _take_timetables(file: TomlFile) -> dict[str, Timetable]:
    """Those of sources that have one, by source."""
    found: dict[str, Timetable] = {}
    for name, table in _tables_of(file.tables, "sources").items():
        place = ("sources", name, "timetable")
        timetable = file.read(table.pop("timetable", {}), Timetable, place)
        if timetable is not None and timetable.hours and _check_timetable(file, place, timetable):
            found[name] = timetable
    return found


def _take_source_lines(file: TomlFile, environ: Mapping[str, str]) -> dict[str, SourceLine]:
    """The FIX sessions of sources, by source."""
    found: dict[str, SourceLine] = {}
    for name, table in _tables_of(file.tables, "sources").items():
        place: Place = ("sources", name, "line")
        is_fix = table.get("kind") == "fix"
        if "line" not in table:
            if is_fix:
                message = f'sources.{name}: kind is "fix", so it needs a table [sources.{name}.line].'
                file.add_mistake(place[:2], message)
            continue
        if not is_fix:
            file.add_mistake(place, f'{name_of(place)} is only for a source whose kind is "fix".')
        line = file.read(table.pop("line"), SourceLine, place)
        if line is not None:
            found[name] = line
            _check_source_line(file, place, line, table.get("alive_s"), environ)
    return found


def _check_source_line(
    file: TomlFile, place: Place, line: SourceLine, alive_s: object, environ: Mapping[str, str]
) -> None:
    _check_secret(file, (*place, "password_env"), line.password_env, environ)
    if not line.profile.reset_on_logon:
        message = f"{name_of(place)}.profile keeps numbers: a source needs reset_on_logon = true."
        file.add_mistake((*place, "profile"), message)
    limit_s = alive_s if isinstance(alive_s, int) else ALIVE_S
    if not 1 <= line.heartbeat_s < limit_s:
        message = f"{name_of(place)}.heartbeat_s must be at least 1 and below alive_s, which is {limit_s}."
        file.add_mistake((*place, "heartbeat_s"), message)


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
