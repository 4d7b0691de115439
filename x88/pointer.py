"""Pointers to memory that a Python object lends, such as an array or a mapped file."""

from typing import Any

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:

    def memory_of(lender: Any, writable: bool) -> Any:
        """The address of the first byte, as long as the lender lives and keeps its size.

        Never called: compiled, the header's C version replaces it; uncompiled, callers index the lender.
        """
        raise NotImplementedError
