"""Quiescence: at the horizon only captures and promotions are played on, until the position is quiet.

Source: Larry R. Harris, "The heuristic search and the game of chess", 1975.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.order import pick, score_captures, score_moves
    from search.score import DRAW, MATE, MAX_PLY, NO_SCORE, from_table, to_table
    from search.searcher import Searcher
    from search.table import EXACT, LOWER, UPPER, bound_of, move_of, score_of, short_move, static_of
    from x88.attack import last_move_checks
    from x88.movegen import generate_captures


def quiesce(searcher: Searcher, alpha: int, beta: int, ply: int, sp: int) -> int:
    """The score of the position with all exchanges played out, fail-soft."""
    if not searcher.enter(ply):
        return DRAW
    if searcher.board.is_insufficient_material():
        return DRAW

    # 1. The table. Any entry is deep enough here.
    table_move = 0
    static = NO_SCORE
    data = searcher.table.probe(searcher.board.key)
    if data:
        table_move = move_of(data)
        static = static_of(data)
        score = from_table(score_of(data), ply)
        bound = bound_of(data)
        if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
            return score

    # 2. Standing pat: a side that is not in check need not capture.
    in_check = last_move_checks(searcher.board)
    best = ply - MATE
    if in_check:
        static = NO_SCORE
    else:
        if static == NO_SCORE:
            static = searcher.evaluation.value(searcher.board.side)
        best = static
    if ply >= MAX_PLY - 1:
        return DRAW if in_check else best
    if best >= beta:
        return best
    old_alpha = alpha
    if best > alpha:
        alpha = best

    # 3. Captures and promotions, or every evasion of a check.
    end = generate_captures(searcher.board, searcher.stack, sp)
    if in_check:
        score_moves(searcher.board, searcher.stack, searcher.history, sp, end, ply, table_move)
    else:
        score_captures(searcher.stack, sp, end, table_move)
    best_move = 0
    for i in range(sp, end):
        move = pick(searcher.board, searcher.stack, i, end)
        # 4. A capture that loses material cannot help a side that may stand pat; the rest of the list is no
        # better.
        if not in_check and searcher.stack.scores[i] < 0:
            break
        searcher.make(move)
        score = -quiesce(searcher, -beta, -alpha, ply + 1, end)
        searcher.unmake()
        if searcher.stop.stopped:
            return DRAW
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                searcher.update_pv(ply, move)
                if score >= beta:
                    break

    bound = LOWER if best >= beta else EXACT if best > old_alpha else UPPER
    searcher.table.store(searcher.board.key, short_move(best_move), to_table(best, ply), static, 0, bound)
    return best
