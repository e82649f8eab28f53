"""Runs a server of this package until its standard input ends, as it does when its parent is gone."""

import os
import runpy
import sys
import threading


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    threading.Thread(target=_end_with_input, daemon=True).start()
    module, *sys.argv[1:] = sys.argv[1:]
    runpy.run_module(f"{__package__}.{module}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
