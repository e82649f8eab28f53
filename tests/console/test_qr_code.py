"""The QR code of the second factor."""

import re

import segno

from bullion.console.widgets.qr_code import qr_code

ADDRESS = "otpauth://totp/Shree%20Bullion:a%20dealer?secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567&issuer=Shree"


def test_it_draws_each_dark_module_with_a_light_edge() -> None:
    html = qr_code(ADDRESS, "Key <of> an app")
    drawn = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", html)}
    matrix = segno.make_qr(ADDRESS, error="m").matrix
    assert drawn == {(x + 4, y + 4) for y, row in enumerate(matrix) for x, dark in enumerate(row) if dark}
    assert f'viewBox="0 0 {len(matrix) + 8} {len(matrix) + 8}"' in html
    assert 'aria-label="Key &lt;of&gt; an app"' in html
    assert "ABCDEFGH" not in html
