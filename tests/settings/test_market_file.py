"""The market file: lines, profiles and sources; every mistake in one go."""

from pathlib import Path

import pytest

from bullion.hedge.fix.profile import KEEPING, RESETTING, Tls
from bullion.market_file import read_market, read_market_file
from bullion.settings import WrongSetting
from bullion.toml_file import WrongFile

GOOD = """\
[profiles.spot-venue]
based_on = "keeping"
heartbeat_s = 10
rate = { count = 50 }

[lines.spot]
broker = "main"
host = "fix.example.com"
port = 9880
sender = "BROKER"
target = "VENUE"
profile = "spot-venue"
username = "broker"
password_env = "SPOT_PASSWORD"
timetable = { hours = ["sun 17:05 - fri 16:55"], zone = "America/New_York" }

[lines.lab]
broker = "lab"
host = "127.0.0.1"
port = 9881
sender = "LAB"
target = "VENUE"
tls = false

[sources.vendor]
kind = "websocket"
url = "wss://rates.example.com/stream?key={secret}"
secret_env = "VENDOR_KEY"
[[sources.vendor.instruments]]
instrument = "GOLD"
symbol = "MCX:GOLD"
lowest = "50000"
highest = "500000"

[sources.backup]
kind = "http"
url = "https://backup.example.com/rates"
fields = { time = "/at" }
timetable = { hours = ["mon-fri 09:00-23:30"], zone = "Asia/Kolkata" }
instruments = [{ instrument = "GOLD", symbol = "gold", scale = "10" }]

[feed]
failover_s = 5

[guards.GOLD]
spike_bps = 50

[messages]
days = 3
"""
SECRETS = {"SPOT_PASSWORD": "secret", "VENDOR_KEY": "secret"}


def test_a_file_without_mistakes() -> None:
    market = read_market(GOOD, SECRETS)
    spot, lab = market.lines
    assert (spot.name, spot.profile.name, spot.profile.heartbeat_s) == ("spot", "spot-venue", 10)
    assert spot.profile.reset_on_logon is KEEPING.reset_on_logon is False
    assert (lab.profile, lab.tls) == (RESETTING, None)
    assert market.line_of("lab") is lab
    assert market.line_of("other") is None
    assert market.feed is not None
    assert [each.name for each in market.feed.sources] == ["vendor", "backup"]
    assert market.feed.sources[0].hours is None
    hours = market.feed.sources[1].hours
    assert hours is not None
    friday_us = 1_794_577_500_000_000  # 2026-11-13 13:45 UTC, 19:15 in India.
    assert (hours.is_open(friday_us), hours.is_open(friday_us + 5 * 3_600_000_000)) == (True, False)
    assert (market.feed.failover_s, market.feed.guards["GOLD"].spike_bps) == (5, 50)
    assert market.messages.days == 3


def test_an_empty_file_has_neither_lines_nor_sources() -> None:
    market = read_market("", {})
    assert (market.lines, market.feed) == ((), None)


def test_every_mistake_is_told_with_its_line() -> None:
    text = """\
[profiles.mine]
based_on = "lmax"
heartbeat = 10
order_type = "stop"

[lines.spot]
broker = "main"
host = 5
port = "9880"
sender = "BROKER"
profile = "yours"

[lines.other]
broker = "main"

[sources.vendor]
kind = "udp"
instruments = []
[guard.GOLD]
"""
    with pytest.raises(WrongFile) as wrong:
        read_market(text, {})
    lines = str(wrong.value).splitlines()
    assert [each.partition(":")[0] for each in lines] == sorted(
        (each.partition(":")[0] for each in lines), key=lambda text: int(text.split()[1])
    )
    for told in (
        'line 2: profiles.mine.based_on is not a profile: expected one of: "resetting", "keeping".',
        "line 3: profiles.mine.heartbeat is not known. Did you mean heartbeat_s?",
        'line 4: profiles.mine.order_type is "stop": expected one of: "market", "limit".',
        "line 8: lines.spot.host is 5: expected text in quotes.",
        'line 9: lines.spot.port is "9880": expected a whole number.',
        'line 11: lines.spot.profile is not a profile: expected one of: "resetting", "keeping", "mine".',
        "line 6: lines.spot.target is missing: expected text in quotes.",
        "line 13: lines.other.host is missing: expected text in quotes.",
        'line 17: sources.vendor.kind is "udp": expected one of: "websocket", "http", "fix".',
        "line 19: guard is not known. Did you mean guards?",
    ):
        assert told in lines


def test_what_only_the_whole_file_shows() -> None:
    text = (
        GOOD.replace('broker = "lab"', 'broker = "main"')
        .replace("sun 17:05", "someday 17:05")
        .replace("23:30", "99:30")
    )
    text = text.replace("[guards.GOLD]", "[guards.SILVER]").replace('lowest = "50000"', 'lowest = "900000"')
    with pytest.raises(WrongFile) as wrong:
        read_market(text, {"VENDOR_KEY": ""})
    lines = str(wrong.value).splitlines()
    assert "line 14: lines.spot.password_env: the environment variable SPOT_PASSWORD is not set." in lines
    assert "line 18: lines.lab.broker is 'main', which the line spot belongs to already." in lines
    assert "line 28: sources.vendor.secret_env: the environment variable VENDOR_KEY is not set." in lines
    assert "line 25: sources.vendor: GOLD: lowest must be below highest." in lines
    assert any(each.startswith("line 15: lines.spot.timetable: hours: 'someday") for each in lines)
    assert any(each.startswith("line 39: sources.backup.timetable: hours: '99:30'") for each in lines)
    assert "line 45: guards.SILVER: no source has this instrument." in lines


def test_mistakes_of_form_do_not_hide_others() -> None:
    with pytest.raises(WrongFile) as wrong:
        read_market(GOOD.replace("port = 9881", "port = true"), {"VENDOR_KEY": "secret"})
    assert str(wrong.value).splitlines() == [
        "line 14: lines.spot.password_env: the environment variable SPOT_PASSWORD is not set.",
        "line 20: lines.lab.port is true: expected a whole number.",
    ]


def test_a_profile_whose_parts_do_not_fit() -> None:
    text = '[profiles.odd]\nbased_on = "keeping"\nstatus_question = "mass"\n'
    with pytest.raises(WrongFile, match=r'odd: status_question = "mass" needs echoes_question'):
        read_market(text, {})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "market.toml"
    with pytest.raises(WrongSetting, match=r"BULLION_MARKET: .*market\.toml cannot be read"):
        read_market_file(missing, {})
    missing.write_bytes(b"\xff")
    with pytest.raises(WrongSetting, match="is not a text file in UTF-8"):
        read_market_file(missing, {})
    missing.write_text("a = 1\n")
    with pytest.raises(WrongSetting, match="has mistakes:\nline 1: a is not known"):
        read_market_file(missing, {})


FIX_SOURCE = """\
[sources.venue]
kind = "fix"
instruments = [{ instrument = "XAUUSD", symbol = "XAU/USD", lowest = "1000", highest = "9000" }]
timetable = { hours = ["sun 17:05 - fri 16:55"], zone = "America/New_York" }
full_updates = true
[sources.venue.line]
host = "md.example.com"
port = 9881
sender = "BROKER"
target = "VENUE"
profile = "resetting"
username = "broker"
password_env = "MD_PASSWORD"
"""


def test_a_source_over_fix_has_a_line_of_its_own() -> None:
    market = read_market(FIX_SOURCE, {"MD_PASSWORD": "secret"})
    assert (market.lines, market.line_of("")) == ((), None)
    assert market.feed is not None
    (source,) = market.feed.sources
    line = market.source_lines["venue"]
    assert (line.name, line.host, line.port, line.sender, line.target) == (
        "venue", "md.example.com", 9881, "BROKER", "VENUE",
    )  # fmt: skip
    assert (line.username, line.password_env, line.tls) == ("broker", "MD_PASSWORD", Tls())
    assert (line.profile.heartbeat_s, source.alive_s, source.full_updates) == (10, 12, True)
    assert line.timetable.hours == ("sun 17:05 - fri 16:55",)
    assert source.hours is not None
    plain = FIX_SOURCE.replace('profile = "resetting"', "tls = false\nheartbeat_s = 5")
    assert read_market(plain, {"MD_PASSWORD": "secret"}).source_lines["venue"].tls is None


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("full_updates = true", 'url = "wss"', "line 1: sources.venue: url is not for a source over FIX."),
        ("full_updates = true", "[lines.venue]",
         "line 5: lines.venue: a source over FIX has this name, too."),
        ("port = 9881", "prt = 9881", "line 8: sources.venue.line.prt is not known. Did you mean port?"),
        ("port = 9881", "", "line 6: sources.venue.line.port is missing: expected a whole number."),
        ('"resetting"', '"keeping"',
         "line 11: sources.venue.line.profile keeps numbers: a source needs reset_on_logon = true."),
        ('"resetting"', '"lmax"',
         'line 11: sources.venue.line.profile is not a profile: expected one of: "resetting", "keeping".'),
        ('username = "broker"', "heartbeat_s = 12",
         "line 12: sources.venue.line.heartbeat_s must be at least 1 and below alive_s, which is 12."),
        ("MD_PASSWORD", "MD_OTHER",
         "line 13: sources.venue.line.password_env: the environment variable MD_OTHER is not set."),
        ("sun 17:05", "someday 17:05", "line 4: sources.venue.timetable: hours: "),
        ('"fix"', '"http"', 'line 6: sources.venue.line is only for a source whose kind is "fix".'),
        ("[sources.venue.line]", "[sources.other.line]",
         'line 1: sources.venue: kind is "fix", so it needs a table [sources.venue.line].'),
    ],
)  # fmt: skip
def test_mistakes_of_a_source_over_fix(before: str, after: str, told: str) -> None:
    with pytest.raises(WrongFile) as wrong:
        read_market(FIX_SOURCE.replace(before, after), {"MD_PASSWORD": "secret"})
    assert any(each.startswith(told) for each in str(wrong.value).splitlines()), str(wrong.value)
