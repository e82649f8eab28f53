"""Whether quickfix-py has a wheel for this platform. Without one it is not installed."""

import platform
import sys

_PYTHONS = {"x86_64": {(3, 11), (3, 12)}, "aarch64": {(3, 11), (3, 12), (3, 13)}}


def exists() -> bool:
    """On these, a test that needs the package fails without it, instead of being skipped."""
    return sys.platform == "linux" and sys.version_info[:2] in _PYTHONS.get(platform.machine(), set())
