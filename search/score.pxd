cpdef enum:
    MAX_PLY = 246           # limit of the search depth from the root, in plies
    DRAW = 0
    TABLEBASE_WIN = 20000   # a tablebase win at the root; in n plies it scores n less
    CERTAIN_WIN = 19754     # TABLEBASE_WIN - MAX_PLY: scores from here on are tablebase wins and mates
    MATE = 32000            # checkmate at the root; mate in n plies scores n less
    LONGEST_MATE = 31754    # MATE - MAX_PLY: scores from here on are mate scores
    INFINITE = 32001        # beyond every score
    NO_SCORE = 32002        # no score available
    NORMAL_PAWN = 133       # a win in half of the games at move 32

cpdef object mate_distance(int score)
cpdef int normalised(int score) noexcept nogil
cpdef inline int to_table(int score, int ply) noexcept nogil:
    if score >= CERTAIN_WIN:
        return score + ply
    if score <= -CERTAIN_WIN:
        return score - ply
    return score
cpdef inline int from_table(int score, int ply) noexcept nogil:
    if score >= CERTAIN_WIN:
        return score - ply
    if score <= -CERTAIN_WIN:
        return score + ply
    return score
