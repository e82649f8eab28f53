"""`python -m bullion_client.cli`: the same as `bullion-client`."""

import sys

from bullion_client.cli import main

sys.exit(main())
