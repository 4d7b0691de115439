"""Quiescence: at the horizon only captures and promotions are played on, until the position is quiet.

Source: Larry R. Harris, "The heuristic search and the game of chess", 1975.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.movepick import TT_MOVE, pick, score_captures, score_moves
    from search.score import DRAW, LONGEST_MATE, MATE, MAX_PLY, NO_SCORE, from_table, to_table
    from search.searcher import Searcher
    from search.table import EXACT, LOWER, UPPER, bound_of, move_of, score_of, short_move, static_of
    from x88.attack import last_move_checks
    from x88.move import CAPTURED, CAPTURED_SHIFT, NO_MOVE, PROMOTED, SQUARE, TARGET_SHIFT
    from x88.movegen import generate, generate_captures, plain_move
    from x88.piece import KIND

    WIDTH = 12
    NARROWING = 2

from x88 import piece

VALUE = piece.VALUE


def quiesce(searcher: Searcher, alpha: int, beta: int, ply: int, sp: int, depth: int) -> int:
    """The score of the position with all exchanges played out, fail-soft. `depth` is 0 at the horizon and
    falls by one with every ply beyond it.
    """
    if not searcher.enter(ply):
        return DRAW
    in_check = last_move_checks(searcher.board)
    if is_drawn(searcher, in_check, sp):
        return DRAW
    if ply >= MAX_PLY - 1:
        return DRAW if in_check else searcher.evaluation.value(searcher.board)

    # 1. The table: any search of the position is at least as deep.
    tt_move = 0
    raw_eval = NO_SCORE
    data = searcher.table.probe(searcher.key())
    if data:
        tt_move = move_of(data)
        raw_eval = static_of(data)
        score = from_table(score_of(data), ply)
        bound = bound_of(data)
        if beta - alpha == 1 and searcher.board.halfmove < 90:
            if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
                return score

    # 2. Standing pat: a side that is not in check need not capture.
    if in_check:
        raw_eval = NO_SCORE
        best = ply - MATE
        futile = best
    else:
        if not data and beta - alpha == 1:
            # Lazily: a lead that no other term makes up for needs no closer look.
            best = searcher.evaluation.rough(searcher.board)
            best -= searcher.parameters.lazy + searcher.evaluation.blur
            if best >= beta:
                return best
        if raw_eval == NO_SCORE:
            raw_eval = searcher.evaluation.value(searcher.board)
        best = searcher.corrected(raw_eval)
        if data and abs(score) < LONGEST_MATE:
            if bound == EXACT or (bound == LOWER and score > best) or (bound == UPPER and score < best):
                best = score
        if best >= beta:
            if not data:
                searcher.table.store(searcher.key(), 0, to_table(best, ply), raw_eval, 0, LOWER)
            return best
        if best > alpha:
            alpha = best
        futile = best + searcher.parameters.delta

    # 3. Captures and promotions, or every evasion of a check.
    end = sp
    generated = False
    if tt_move and not in_check:
        end = push_tt_move(searcher, sp, tt_move, True)
    if end == sp:
        end = generate_scored(searcher, sp, ply, tt_move, not in_check)
        generated = True
    old_alpha = alpha
    best_move = 0
    tried = 0
    limit = max(WIDTH + depth * NARROWING, 1)
    i = sp - 1
    while True:
        i += 1
        if i == end:
            if generated:
                break
            end = generate_scored(searcher, sp, ply, tt_move, not in_check)
            generated = True
            pick(searcher.board, searcher.stack, sp, end)
            if i == end:
                break
        move = pick(searcher.board, searcher.stack, i, end)
        if not in_check:
            # 4. A capture that loses material cannot help a side that may stand pat; the rest of the list is
            # no better.
            if searcher.stack.scores[i] < 0:
                break
            # 5. Delta pruning: nor can one that wins too little.
            if not move & PROMOTED:
                gain = futile + VALUE[move >> CAPTURED_SHIFT & KIND]
                if gain <= alpha:
                    best = max(best, gain)
                    continue
        # 6. The farther beyond the horizon, the fewer moves are tried, once one does not get the side mated:
        # with a dozen queens on the board the exchanges would never end.
        if tried >= limit and best > -LONGEST_MATE:
            break
        tried += 1
        searcher.make(move, ply)
        score = -quiesce(searcher, -beta, -alpha, ply + 1, end, depth - 1)
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
    searcher.table.store(searcher.key(), short_move(best_move), to_table(best, ply), raw_eval, 0, bound)
    return best


def is_drawn(searcher: Searcher, in_check: bool, sp: int) -> bool:
    """Whether the position is a draw by rule. A first repetition counts: what can be repeated once can be
    repeated again.
    """
    if searcher.board.is_repetition(1) or searcher.board.is_insufficient_material():
        return True
    # Mate comes before the fifty-move rule.
    return searcher.board.halfmove >= 100 and not (
        in_check and generate(searcher.board, searcher.stack, sp) == sp
    )


def push_tt_move(searcher: Searcher, sp: int, tt_move: int, captures: bool) -> int:
    """Write the table's move to the stack, ahead of a list not generated yet, if it can be told to be legal,
    and a capture where only these are wanted; returns the end of the list.
    """
    move = plain_move(searcher.board, tt_move & SQUARE, tt_move >> TARGET_SHIFT & SQUARE)
    if move == NO_MOVE or short_move(move) != tt_move or (captures and not move & CAPTURED):
        return sp
    searcher.stack.moves[sp] = move
    searcher.stack.scores[sp] = TT_MOVE
    return sp + 1


def generate_scored(searcher: Searcher, sp: int, ply: int, tt_move: int, captures: bool) -> int:
    """Write all legal moves to the stack, scored for the search, or captures and promotions alone, which a
    side in check cannot ask for; returns the end of the list.
    """
    if captures:
        end = generate_captures(searcher.board, searcher.stack, sp)
        score_captures(
            searcher.stack,
            searcher.history,
            sp,
            end,
            searcher.board.side,
            tt_move,
            searcher.parameters.capture_history,
        )
    else:
        end = generate(searcher.board, searcher.stack, sp)
        score_moves(
            searcher.stack,
            searcher.history,
            sp,
            end,
            searcher.board.side,
            ply,
            tt_move,
            searcher.parameters.capture_history,
        )
    return end
