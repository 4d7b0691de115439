"""A stand-in for the `cython` module, to run the source on a machine without Cython."""

from contextlib import nullcontext

compiled = False
nogil = nullcontext()
