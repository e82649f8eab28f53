"""The figures of the FIX codec and session can be taken."""

import pytest

from bench import fix


def test_every_figure_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fix, "_TIMES", 5)
    fix.main()
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row[:10].strip() for row in rows] == ["encode", "parse", "time stamp", "order out,"]
    assert all(row.endswith(" of JSON") for row in rows)
