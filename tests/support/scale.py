"""How much of the long proofs is run: see `TEST_SCALE` in CONTRIBUTING.md."""

import os

SCALE = int(os.environ.get("TEST_SCALE", "1"))
