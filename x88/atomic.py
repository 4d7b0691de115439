"""Access to words that threads share without a lock: atomic when compiled (see the header), ordinary when
uncompiled, where the GIL serialises everything.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:

    def load_word(word: int) -> int:
        """The value of a word of a table that another thread may be writing."""
        return word

    def store_word(word: int, value: int) -> None:
        """Never called: compiled, the header's C version replaces it; uncompiled, callers assign."""
        raise NotImplementedError

    def load_short(word: int) -> int:
        """The same for 16 bits."""
        return word

    def store_short(word: int, value: int) -> None:
        """The same for 16 bits."""
        raise NotImplementedError

    def plain(number: int) -> int:
        """A plain number. Clang refuses how Cython converts an atomic type to or from a Python object."""
        return number

    def take_from(left: int, wanted: int) -> int:
        """Subtract from a count and return its old value. Never called: see `store_word`."""
        raise NotImplementedError
