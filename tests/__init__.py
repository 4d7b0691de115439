"""The tests. Folders mirror the code; what several files use stands here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The checkout."""
