"""The command line `bullion-client`. It needs the extra `cli`; the library does not."""

import sys

_NOT_INSTALLED = (
    "bullion-client: The command line needs two more packages. Install them with: "
    "pip install 'bullion-client[cli]'\n"
)


def main() -> int:
    """Run the command line of the process; return the exit code."""
    try:
        # Imported here, so that a missing click or rich is one sentence and not a traceback.
        from bullion_client.cli.program import run
    except ModuleNotFoundError as missing:
        if missing.name not in ("click", "rich"):
            raise
        sys.stderr.write(_NOT_INSTALLED)
        return 2
    return run(sys.argv[1:])
