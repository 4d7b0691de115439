"""Relaxed atomic access to flags and words that threads share without a lock, compiled; plain access
uncompiled, where the GIL orders everything.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:

    def load_flag(flag: bool) -> bool:
        """The value of a flag that another thread may set."""
        return flag

    def store_flag(flag: bool, value: bool) -> None:
        """Nothing to do without a compiler: the caller assigns."""

    def load_word(word: int) -> int:
        """The value of a word that another thread may write."""
        return word

    def store_word(word: int, value: int) -> None:
        """Nothing to do without a compiler: the caller assigns."""
