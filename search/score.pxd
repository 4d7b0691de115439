cpdef enum:
    MAX_PLY = 128           # plies from the root that a search may reach
    DRAW = 0
    MATE = 32000            # mate on the spot; a mate in n plies is worth n less
    LONGEST_MATE = 31872    # MATE - MAX_PLY: scores from here on are mates
    INFINITE = 32001        # beyond every score
    NO_SCORE = 32002        # "none", where a score may be missing

cpdef object mate_distance(int score)
cdef int to_table(int score, int ply) noexcept nogil
cdef int from_table(int score, int ply) noexcept nogil
