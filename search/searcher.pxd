from libc.stdint cimport uint64_t

cimport cython

from search.correction cimport Corrections
from search.nnue.evaluate cimport Evaluation
from search.history cimport BEFORE_ROOT, History
from search.keys cimport Keys
from search.movepick cimport MovePicker
from search.nodecounts cimport NodeCounts
from search.oversight cimport Oversight
from search.parameters cimport Parameters
from search.syzygy.probing cimport Probing
from search.score cimport MAX_PLY, NO_SCORE
from search.stop cimport Stop
from search.system cimport yield_processor, monotonic_ns
from search.transposition cimport TranspositionTable
from x88.atomic cimport atomic_count, plain
from x88.board cimport Board
from x88.move cimport NO_MOVE
from x88.movegen cimport MAX_MOVES, MoveStack, generate
from x88.piece cimport BLACK, WHITE


cdef long long SECOND


@cython.final
cdef class Searcher:
    cdef readonly Board board
    cdef MoveStack stack
    cdef TranspositionTable table
    cdef Stop stop
    cdef readonly Evaluation evaluation
    cdef Keys keys
    cdef History history
    cdef readonly Oversight oversight
    cdef MovePicker picker
    cdef Corrections corrections
    cdef Parameters parameters
    cdef Probing probing
    cdef int[61504] pv
    cdef int[248] pv_ends
    cdef int[248] static_evals
    cdef int[248] excluded
    cdef int[248] reductions
    cdef int null_ply
    cdef int extension_ply
    cdef bint seeks_mate
    cdef uint64_t salt
    cdef readonly long long nodes
    cdef public long long tb_hits
    cdef atomic_count node_limit
    cdef long long node_share
    cdef public int seldepth    # the deepest ply reached
    cdef atomic_count published_nodes
    cdef atomic_count published_tb_hits
    cdef atomic_count published_seldepth
    cdef int[248] kept
    cdef int kept_count
    cdef int kept_score
    cdef int kept_depth
    cdef readonly bint failed_high
    cdef bint failed_low
    cdef int[448] root_moves
    cdef long long[448] root_nodes
    cdef int root_count
    cdef long long root_began
    cdef long long reply_began
    cdef public NodeCounts counts
    cdef int root_score
    cdef int[448] allowed
    cdef int allowed_count
    cdef long long clock_mask
    cdef atomic_count deadline        # nanoseconds
    cdef atomic_count fail_low_deadline # nanoseconds
    cdef atomic_count grace_deadline  # nanoseconds
    cdef public bint has_move
    cdef atomic_count next_tick       # nanoseconds
    cdef public bint yields
    cdef public object on_tick
    cdef public bint is_reporting
    cdef public object on_root_move
    cdef public object on_bound
    cdef bint is_searching    # in the thread of a helper

    cpdef void forget_search(self) noexcept nogil
    @cython.locals(i=int)
    cdef void begin(self, long long node_limit) noexcept nogil
    @cython.locals(side=int, back=int, move=int)
    cdef void record_game(self) noexcept nogil
    @cython.locals(kept=int, i=int, j=int)
    cdef void keep_allowed(self) noexcept nogil
    cdef void begin_root_move(self, int move, int number) noexcept nogil
    @cython.locals(i=int)
    cdef void end_root_move(self, int move) noexcept nogil
    cdef void begin_reply(self) noexcept nogil
    cdef void end_reply(self, int reply) noexcept nogil
    cdef void _report_root_move(self, int move, int number) noexcept with gil
    cpdef void limit_time(self, double milliseconds, double fail_low, double grace)
    cpdef void tick_after(self, double milliseconds)
    cpdef void limit_nodes(self, long long limit, long long share) noexcept nogil
    cpdef void lower_node_limit(self, long long limit) noexcept nogil
    @cython.locals(now=cython.longlong, deadline=cython.longlong)
    cpdef void check_time(self) noexcept nogil
    @cython.locals(taken=cython.longlong)
    cdef bint take_nodes(self) noexcept nogil
    cdef uint64_t key(self) noexcept nogil
    @cython.locals(i=int)
    cdef void keep_line(self, int depth, int score) noexcept nogil
    cdef void report_bound(self, int score, bint is_upper) noexcept with gil
    cdef void _tick(self) noexcept with gil
    cdef bint enter(self, int ply) noexcept nogil
    cdef bint is_drawn(self, bint in_check, int ply, int sp) noexcept nogil
    @cython.locals(side=int, top=int)
    cdef void make(self, int move, int ply) noexcept nogil
    cdef void unmake(self) noexcept nogil
    cdef void make_null(self, int ply) noexcept nogil
    cdef void unmake_null(self) noexcept nogil
    @cython.locals(score=int)
    cdef int probe_tablebases(self, int depth, int ply, int sp) noexcept nogil
    @cython.locals(side=int, pawns=int, pieces=int, minors=int, moves=int, top=int, error=int)
    cdef int corrected(self, int value, int ply) noexcept nogil
    cdef int damped(self, int value) noexcept nogil
    @cython.locals(maximum=int, top=int)
    cdef void update_corrections(self, int error, int depth, int ply) noexcept nogil
    @cython.locals(row=int, end=int, i=int)
    cdef void update_pv(self, int ply, int move) noexcept nogil
