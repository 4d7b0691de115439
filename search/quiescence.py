"""Quiescence search: past the horizon, search only captures and promotions until the position is quiet.

Source: Larry R. Harris, "The heuristic search and the game of chess", 1975. Static exchange evaluation in
delta pruning is Stockfish's idea.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.movepick import CAPTURES, EVASIONS, next_move
    from search.score import CERTAIN_WIN, DRAW, MATE, MAX_PLY, NO_SCORE, from_table, to_table
    from search.searcher import Searcher
    from search.transposition import (
        EXACT,
        LOWER,
        UPPER,
        bound_of,
        move_of,
        score_of,
        short_move,
        static_of,
        was_pv,
    )
    from x88.attack import last_move_checks, see_at_least
    from x88.move import CAPTURED, PROMOTED, captured_of

    LIMIT_STEP = 2

from x88 import piece

VALUE = piece.VALUE


def quiesce(searcher: Searcher, alpha: int, beta: int, ply: int, sp: int, depth: int) -> int:
    """Search captures and promotions and return the fail-soft score. `depth` is 0 at the horizon and
    decreases by one with every ply past it. The move stack is free from index `sp` on. Discard the result if
    the search was stopped.
    """
    if not searcher.enter(ply):
        return DRAW
    in_check = last_move_checks(searcher.board)
    if searcher.is_drawn(in_check, ply, sp):
        return DRAW
    if ply >= MAX_PLY - 1:
        return DRAW if in_check else searcher.damped(searcher.evaluation.value(searcher.board))

    # 1. Transposition table cutoff: every entry is at least as deep as quiescence.
    tt_move = 0
    raw_eval = NO_SCORE
    tt_pv = beta - alpha > 1
    data = searcher.table.probe(searcher.key())
    if data:
        tt_pv = tt_pv or was_pv(data)
        tt_move = move_of(data)
        raw_eval = static_of(data)
        score = from_table(score_of(data), ply)
        bound = bound_of(data)
        if beta - alpha == 1 and searcher.board.halfmove < 90:
            if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
                return score

    # 2. Stand pat: a side that is not in check does not have to capture.
    if in_check:
        raw_eval = NO_SCORE
        best = ply - MATE
        futility_base = best
    else:
        if raw_eval == NO_SCORE:
            raw_eval = searcher.evaluation.value(searcher.board)
        best = searcher.damped(searcher.corrected(raw_eval, ply))
        if data and abs(score) < CERTAIN_WIN:
            if bound == EXACT or (bound == LOWER and score > best) or (bound == UPPER and score < best):
                best = score
        if best >= beta:
            if not data:
                searcher.table.store(searcher.key(), 0, to_table(best, ply), raw_eval, 0, LOWER, tt_pv)
            return best
        if best > alpha:
            alpha = best
        futility_base = best + searcher.parameters.delta_margin

    # 3. Captures and promotions. In check evasions, of the quiet ones only the first two, or more while
    # every move is mated: they show that there is one, and the others are for the main search.
    # 4. Static exchange evaluation: the picker skips losing captures.
    slot = 2 * ply + 1
    searcher.picker.begin(searcher.board, slot, sp, tt_move, EVASIONS if in_check else CAPTURES, not in_check)
    old_alpha = alpha
    best_move = 0
    tried = 0
    quiets = 0
    move_limit = max(searcher.parameters.quiescence_moves + depth * LIMIT_STEP, 1)
    i = sp - 1
    while (i := next_move(searcher.picker, searcher.board, slot, i + 1, 0)) >= 0:
        move = searcher.stack.moves[i]
        # 5. Delta pruning: skip a capture whose victim and a margin cannot raise alpha.
        if not in_check and not move & PROMOTED:
            futility_value = futility_base + VALUE[captured_of(move)]
            if futility_value <= alpha:
                best = max(best, futility_value)
                continue
            # With nothing but the margin to spare, the capture must gain material.
            if futility_base <= alpha and not see_at_least(searcher.board, move, 1):
                best = max(best, futility_base)
                continue
        # 6. Move limit: it shrinks with every ply past the horizon, or quiescence would explode with a dozen
        # queens on the board. It applies only after a move that is not certain to lose.
        if tried >= move_limit and best > -CERTAIN_WIN:
            break
        if not move & (CAPTURED | PROMOTED):
            if quiets >= searcher.parameters.quiescence_evasions and best > -CERTAIN_WIN:
                continue
            quiets += 1
        tried += 1
        searcher.make(move, ply)
        score = -quiesce(searcher, -beta, -alpha, ply + 1, searcher.picker.ends[slot], depth - 1)
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
    searcher.table.store(
        searcher.key(), short_move(best_move), to_table(best, ply), raw_eval, 0, bound, tt_pv
    )
    return best
