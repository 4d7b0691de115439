"""The command `moff`, and `python -m moff`."""

import sys

from moff.signals import leave_at_once


def main() -> int:
    """Run the program; returns its exit code."""
    leave_at_once()
    import engine  # takes a while

    return engine.main()


if __name__ == "__main__":
    sys.exit(main())
