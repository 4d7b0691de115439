"""What the source uses of the `cython` module, for running it uncompiled on a machine without Cython."""

from contextlib import nullcontext

compiled = False
nogil = nullcontext()
gil = nullcontext()
