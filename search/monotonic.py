"""A monotonic clock that a searching thread reads without the GIL, so that no other thread has to wake up on
time for a search to end on time.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

import time

if not cython.compiled:
    # The header has it as C.
    def monotonic_ns() -> int:
        """Nanoseconds since some moment in the past."""
        return time.monotonic_ns()
