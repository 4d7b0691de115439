"""Pointers to memory that a Python object lends, such as an array or a mapped file."""

from typing import Any

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:

    def memory_of(lender: Any, size: int, writable: bool) -> Any:
        """The address of the first of the items, of `size` bytes each, as long as the lender lives, keeps its
        size and is not closed.

        Raises ValueError if its items have another size, TypeError if it has no memory to lend, BufferError
        if it does not lend it for writing.

        Never called: compiled, the header's C version replaces it; uncompiled, callers index the lender.
        """
        raise NotImplementedError
