"""`python -m moff`: the same program as the command `moff`."""

import sys

from engine import main

if __name__ == "__main__":
    sys.exit(main())
