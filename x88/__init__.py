"""The board and the rules of chess on 0x88, with their notation. Knows nothing of searching or scoring a
position.

Importing the package decides, before any module of Moff is loaded, between the compiled modules and their
uncompiled source: as a whole, never one beside the other (`x88.build`).
"""

from x88 import build

build.choose()
