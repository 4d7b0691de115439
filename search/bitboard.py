"""Bitboards: sets of squares as 64-bit words, with population count and bit scan.

Bit 0 is a1, bit 7 h1, bit 63 h8; the 0x88 square `sq` is bit `(sq + (sq & 7)) >> 1`. `search.masks` has
bitboard tables.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    # Compiled, the header has both as C functions.
    def popcount(bits: int) -> int:
        """The number of squares in the set."""
        return bits.bit_count()

    def lowest(bits: int) -> int:
        """The number of the lowest square of a non-empty set."""
        return (bits & -bits).bit_length() - 1
