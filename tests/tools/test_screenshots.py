"""The pictures of the console: every view of every page has them, and the page that shows them is current."""

import pytest

from bullion.console import pages
from bullion.console.page import Page
from tools.screenshots import catalogue


def test_every_view_has_its_pictures() -> None:
    assert catalogue.without_picture() == []
    wanted = {
        each.file(size, theme)
        for each in catalogue.PICTURES
        for size in each.sizes
        for theme in catalogue.THEMES
    }
    assert {each.name for each in catalogue.FOLDER.glob("console-*.png")} == wanted
    assert catalogue.GALLERY.read_text("utf-8") == catalogue.gallery()


def test_a_view_without_a_picture_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    new = Page("vault", "Vault", {"": pages.PAGES[0].views[""], "/{bar}": pages.PAGES[0].views[""]})
    monkeypatch.setattr(catalogue, "PAGES", (*pages.PAGES, new))
    assert catalogue.without_picture() == ["/vault", "/vault/{bar}"]
