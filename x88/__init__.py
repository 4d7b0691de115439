"""The 0x88 board, the rules of chess and notation. Knows nothing of search and evaluation.

Importing the package chooses either all compiled modules or all source modules, before any of them is loaded
(`x88.build`).
"""

from x88 import build

build.choose()
