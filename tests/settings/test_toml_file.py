"""Files in TOML: every mistake in one go, with its line and what was expected."""

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
import pytest

from bullion.toml_file import WrongFile, read_toml


class Door(msgspec.Struct, frozen=True, kw_only=True):
    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    host: str = "127.0.0.1"
    tls: bool = True
    kind: Literal["fix", "http"] = "fix"
    scale: Decimal = Decimal(1)
    names: tuple[str, ...] = ()
    hours: (
        Annotated[str, msgspec.Meta(pattern="^[0-9]{2}:[0-9]{2}$", description="a time as HH:MM")] | None
    ) = None

    def __post_init__(self) -> None:
        if self.kind == "http" and self.tls:
            raise ValueError("an http door has no TLS.")


class House(msgspec.Struct, frozen=True):
    doors: dict[str, Door] = {}
    windows: tuple[Door, ...] = ()


def test_a_file_without_mistakes_is_read() -> None:
    house = read_toml('[doors.front]\nport = 1\nscale = 0.1\nhours = "09:00"\nnames = ["a", "b"]\n', House)
    assert house == House({"front": Door(port=1, scale=Decimal("0.1"), hours="09:00", names=("a", "b"))})


def test_every_mistake_is_told_with_its_line() -> None:
    text = """\
# A comment.
[doors.front]
port = 70000
hots = "a"
tls = "yes"
names = [
  "a",
  3,
]

[doors.back]
kind = "ftp"
hours = "9"
scale = "much"

[[windows]]
port = 1
[[windows]]
port = "x"
[[windows]]
kind = "http"
port = 2

[garden]
"""
    with pytest.raises(WrongFile) as wrong:
        read_toml(text, House)
    assert str(wrong.value).splitlines() == [
        "line 3: doors.front.port is 70000: expected a whole number from 1 to 65535.",
        "line 4: doors.front.hots is not known. Did you mean host?",
        'line 5: doors.front.tls is "yes": expected true or false.',
        "line 9: doors.front.names[2] is 3: expected text in quotes.",
        "line 11: doors.back.port is missing: expected a whole number from 1 to 65535.",
        'line 12: doors.back.kind is "ftp": expected one of: "fix", "http".',
        'line 13: doors.back.hours is "9": expected a time as HH:MM.',
        'line 14: doors.back.scale is "much": expected a number.',
        'line 19: windows[2].port is "x": expected a whole number from 1 to 65535.',
        "line 20: windows[3]: an http door has no TLS.",
        "line 24: garden is not known. Expected one of: doors, windows.",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("doors = 3", "line 1: doors is 3: expected a table."),
        ("windows = {}", "line 1: windows is a table: expected a list."),
        ("windows = [1]", "line 1: windows[1] is 1: expected a table."),
    ],
)
def test_other_mistakes(text: str, told: str) -> None:
    with pytest.raises(WrongFile) as wrong:
        read_toml(text, House)
    assert str(wrong.value) == told


@pytest.mark.parametrize(("text", "place"), [("[doors\n", "line 1"), ("a = 1\na = 2\n", "line 2")])
def test_what_is_not_toml_is_told_with_its_line(text: str, place: str) -> None:
    with pytest.raises(WrongFile, match=rf"^This is not TOML: .*{place}"):
        read_toml(text, House)
