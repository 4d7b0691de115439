cimport cython

from search.alphabeta cimport search
from search.score cimport INFINITE, LONGEST_MATE, MAX_PLY
from search.searcher cimport Searcher


@cython.locals(width=int, alpha=int, beta=int, score=int, is_upper=bint)
cdef int iterate(Searcher searcher, int depth, int guess) noexcept nogil
cpdef bint help_along(Searcher searcher, int number, int last) except -1
@cython.locals(score=int, depth=int)
cdef bint _help_along(Searcher searcher, int number, int last) noexcept nogil
cdef bint _skips(int number, int depth) noexcept nogil
