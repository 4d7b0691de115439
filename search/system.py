"""System calls of a search thread without the GIL: the time, so that stopping in time does not depend on
another thread waking up, and yielding the processor.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

import time

if not cython.compiled:
    # Compiled, the header provides them as C functions.
    def monotonic_ns() -> int:
        """Nanoseconds since an arbitrary start."""
        return time.monotonic_ns()

    def has_avx2() -> bool:
        """Whether the processor has the vector instructions AVX2."""
        return False

    def yield_processor() -> None:
        """Let threads run that wait for a processor."""
        time.sleep(0)
