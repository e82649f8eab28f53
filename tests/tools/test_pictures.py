"""The pictures: drawn from words that fit, and closed in themselves."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tools.pictures import pictures
from tools.pictures.canvas import Canvas, DoesNotFit
from tools.pictures.rooms import floors_of, rooms

ROOT = Path(__file__).resolve().parents[2]
HOUSE = """
[importlinter:contract:rooms]
layers =
    __main__
    api | attic
    faults
"""


def canvas() -> Canvas:
    return Canvas(100, "A picture", "Of nothing.")


@pytest.mark.parametrize("words", [("w" * 30,), ("one", "two", "three", "four")], ids=["wide", "high"])
def test_words_that_do_not_fit_into_their_box_are_an_error(words: tuple[str, ...]) -> None:
    with pytest.raises(DoesNotFit):
        canvas().box((0, 0), (100, 60), "name", *words)


def test_text_is_escaped() -> None:
    drawn = canvas()
    drawn.box((0, 0), (200, 60), "a < b", "c & d")
    assert "a &lt; b" in drawn.svg()
    assert "c &amp; d" in drawn.svg()


@pytest.mark.parametrize(("name", "text"), pictures(ROOT).items(), ids=pictures(ROOT))
def test_a_picture_is_whole_has_words_for_those_who_cannot_see_it_and_fetches_nothing(
    name: str, text: str
) -> None:
    picture = ET.fromstring(text)  # noqa: S314 - it is our own
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    kind = "{http://www.w3.org/2000/svg}"
    assert picture.findtext(f"{kind}title")
    assert picture.findtext(f"{kind}desc")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    for box in picture.iter(f"{kind}rect"):
        x, y, wide, high = (float(box.attrib[each]) for each in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width, name
        assert 0 <= y <= y + high <= height, name


def test_the_house_is_drawn_from_its_rules_also_a_room_that_has_no_words_yet(tmp_path: Path) -> None:
    assert floors_of(HOUSE) == [["__main__"], ["api", "attic"], ["faults"]]
    (tmp_path / ".importlinter").write_text(HOUSE, "utf-8")
    drawn = rooms(tmp_path)
    assert re.findall(r'class="name middle"[^>]*>(\w+)<', drawn) == ["__main__", "api", "attic", "faults"]
