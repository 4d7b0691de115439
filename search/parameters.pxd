cimport cython


@cython.final
cdef class Parameters:
    cdef public int aspiration
    cdef public int reverse_futility_depth
    cdef public int reverse_futility
    cdef public int null_depth
    cdef public int null_reduction
    cdef public int null_divisor
    cdef public int iir_depth
    cdef public int lmp_depth
    cdef public int lmp_base
    cdef public int lmp_slope
    cdef public int futility_depth
    cdef public int futility
    cdef public int futility_step
    cdef public int futility_history
    cdef public int see_quiet_depth
    cdef public int see_quiet
    cdef public int see_history
    cdef public int capture_futility_depth
    cdef public int capture_futility
    cdef public int capture_futility_history
    cdef public int see_capture_depth
    cdef public int see_capture
    cdef public int singular_depth
    cdef public int singular_margin
    cdef public int double_margin
    cdef public int triple_margin
    cdef public int lmr_first
    cdef public int lmr_base
    cdef public int lmr_slope
    cdef public int lmr_cut
    cdef public int lmr_history
    cdef public int lmr_capture
    cdef public int lmr_check
    cdef public int hindsight
    cdef public int bonus_step
    cdef public int bonus_max
    cdef public int malus
    cdef public int eval_history
    cdef public int eval_limit
    cdef public int prior_bonus
    cdef public int capture_history
    cdef public int delta_margin
    cdef public int quiescence_moves
    cdef public int correct_pawns
    cdef public int correct_pieces
    cdef public int correct_minors
    cdef public int correction_step
    cdef public int correction_max
    cdef public int probcut_depth
    cdef public int probcut
    cdef public int lmr_pv
    cdef public int lmr_tt_pv
    cdef public int lmr_correction
    cdef public int deeper
    cdef public int correct_moves
    cdef public int fourth_history
    cdef public int pawn_history
    cdef int[4096] reductions
