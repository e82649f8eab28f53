"""The service with little trust in its memory: `python -m tests.support.short_trust serve`.

Without a store it goes by memory for 5 s, not for 30. Nothing else is different.
"""

from bullion.__main__ import main
from bullion.api import gate

TRUSTED_S = 5

if __name__ == "__main__":
    gate.MEMORY_AGE_NS_MAX = TRUSTED_S * 1_000_000_000
    main()
