"""The service with room for four accounts in memory: `python -m tests.support.little_memory serve`.

Nothing else is different, so that a dozen accounts show what otherwise takes a hundred thousand.
"""

from bullion.__main__ import main
from bullion.catalogue import clients
from bullion.store import catalogue_source

KEPT_MAX = 8
"""Four accounts with a key each."""
_PAGE_SIZE = 2

if __name__ == "__main__":
    clients.KEPT_MAX = KEPT_MAX
    catalogue_source._PAGE_SIZE = _PAGE_SIZE
    main()
