"""The command `moff`, and `python -m moff`."""

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the program; returns its exit code."""
    try:
        import engine
    except KeyboardInterrupt:  # during start-up, where nothing has to be tidied up yet
        return INTERRUPTED
    return engine.main()


if __name__ == "__main__":
    sys.exit(main())
