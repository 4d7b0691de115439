"""A monotonic clock that a search thread reads without the GIL, so that stopping on time does not depend on
another thread waking up.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

import time

if not cython.compiled:
    # Compiled, the header has it as a C function.
    def monotonic_ns() -> int:
        """Nanoseconds since an arbitrary start."""
        return time.monotonic_ns()
