"""How much of the long proofs is run: see `BULLION_TEST_SCALE` in CONTRIBUTING.md."""

import os

SCALE = int(os.environ.get("BULLION_TEST_SCALE", "1"))
