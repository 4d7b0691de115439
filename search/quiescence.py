"""Quiescence: at the horizon only captures and promotions are played on, until the position is quiet.

Source: Larry R. Harris, "The heuristic search and the game of chess", 1975.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.order import pick, score_captures, score_moves
    from search.score import DRAW, MATE, MAX_PLY
    from search.searcher import Searcher
    from x88.attack import last_move_checks
    from x88.movegen import generate_captures


def quiesce(searcher: Searcher, alpha: int, beta: int, ply: int, sp: int) -> int:
    """The score of the position with all exchanges played out, fail-soft.

    The table is left alone: probing and storing here costs more time than the nodes that it saves.
    """
    if not searcher.enter(ply):
        return DRAW
    if searcher.board.is_insufficient_material():
        return DRAW

    # 1. Standing pat: a side that is not in check need not capture.
    in_check = last_move_checks(searcher.board)
    best = ply - MATE if in_check else searcher.evaluation.value(searcher.board.side)
    if ply >= MAX_PLY - 1:
        return DRAW if in_check else best
    if best >= beta:
        return best
    if best > alpha:
        alpha = best

    # 2. Captures and promotions, or every evasion of a check.
    end = generate_captures(searcher.board, searcher.stack, sp)
    if in_check:
        score_moves(searcher.stack, searcher.history, sp, end, ply, 0)
    else:
        score_captures(searcher.stack, sp, end)
    for i in range(sp, end):
        move = pick(searcher.board, searcher.stack, i, end)
        # 3. A capture that loses material cannot help a side that may stand pat; the rest of the list is no
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
                searcher.update_pv(ply, move)
                if score >= beta:
                    break
    return best
