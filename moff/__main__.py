"""`python -m moff`: the same program as the command `moff`."""

import sys

from moff.main import main

if __name__ == "__main__":
    sys.exit(main())
