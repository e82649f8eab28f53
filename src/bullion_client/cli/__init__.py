"""The command line `bullion-client`. It needs the extra `cli`; the library does without."""

import sys

_NOT_INSTALLED = (
    "bullion-client: The command line needs two more packages. Install them with: "
    "pip install 'bullion-client[cli]'\n"
)


def main() -> int:
    """Run the command that the process was started with; return its exit code."""
    try:
        # Here and not above, so that whoever lacks click or rich is told so in a sentence.
        from bullion_client.cli.program import run
    except ModuleNotFoundError as missing:
        if missing.name not in ("click", "rich"):
            raise
        sys.stderr.write(_NOT_INSTALLED)
        return 2
    return run(sys.argv[1:])
