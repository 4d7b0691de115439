"""The tests. Folders mirror the code; what several files use stands here."""

from pathlib import Path

"""The checkout."""
