"""Access to words that threads share without a lock: atomic when compiled (see the header), plain uncompiled,
where the GIL orders everything.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:

    def load_word(word: int) -> int:
        """The value of a table's word that another thread may write."""
        return word

    def store_word(word: int, value: int) -> None:
        """Only the header's C version is ever called: uncompiled, the caller assigns."""
        raise NotImplementedError

    def take_from(left: int, wanted: int) -> int:
        """Subtract from a count and return what it was. Only the header's C version is ever called."""
        raise NotImplementedError
