"""Bitboards: sets of squares as 64-bit words, for the evaluation, which asks how many and which of a set.

Bit 0 is a1, bit 7 h1, bit 63 h8; the 0x88 square `sq` is bit `(sq + (sq & 7)) >> 1`. `search.masks` has
tables of such sets.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    # The header has both as C.
    def popcount(bits: int) -> int:
        """How many squares the set has."""
        return bits.bit_count()

    def lowest(bits: int) -> int:
        """The number of the lowest square of a set that is not empty."""
        return (bits & -bits).bit_length() - 1
