"""Small pictures: a browser's picture with its 256 most frequent colours, which is enough for flat pages."""

import struct
import zlib
from base64 import b64decode, b64encode
from pathlib import Path

from playwright.sync_api import Browser

_REDUCE = """async ([picture]) => {
    const image = new Image();
    image.src = "data:image/png;base64," + picture;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const pixels = new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) || 0) + 1);
    const colours = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(each => each[0]);
    const parts = colour => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
    const palette = colours.map(parts);
    const nearest = new Map(colours.map((colour, index) => [colour, index]));
    const find = colour => {
        const [r, g, b] = parts(colour);
        let best = 0, least = Infinity;
        palette.forEach(([x, y, z], index) => {
            const far = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
            if (far < least) [best, least] = [index, far];
        });
        nearest.set(colour, best);
        return best;
    };
    let text = "";
    const bytes = new Uint8Array(pixels.length);
    pixels.forEach((pixel, place) => bytes[place] = nearest.get(pixel) ?? find(pixel));
    const step = 32768;
    for (let at = 0; at < bytes.length; at += step) {
        text += String.fromCharCode(...bytes.subarray(at, at + step));
    }
    return [image.width, image.height, palette.flat(), btoa(text)];
}"""


def write(browser: Browser, picture: bytes, path: Path) -> None:
    page = browser.new_page()
    width, height, palette, encoded = page.evaluate(_REDUCE, [b64encode(picture).decode("ascii")])
    page.close()
    pixels = b64decode(encoded)
    rows = b"".join(b"\0" + pixels[start : start + width] for start in range(0, width * height, width))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", bytes(palette)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
