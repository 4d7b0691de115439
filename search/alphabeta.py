"""The main search: alpha-beta in its negamax form with a principal variation window, in numbered steps.

Sources: Donald E. Knuth and Ronald W. Moore, "An analysis of alpha-beta pruning", 1975; T. Anthony Marsland,
"Relative efficiency of alpha-beta implementations", 1983 (principal variation search); Chrilly Donninger,
"Null move and deep search", 1993; Ernst A. Heinz, "Extended futility pruning", 1998.
"""

import math

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.order import KILLER, order_rest, pick, score_moves
    from search.quiescence import quiesce
    from search.score import DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY, NO_SCORE, from_table, to_table
    from search.searcher import Searcher
    from search.table import EXACT, LOWER, UPPER, bound_of, depth_of, move_of, score_of, short_move, static_of
    from x88.attack import gives_check, last_move_checks
    from x88.board import Board
    from x88.move import CAPTURED, PROMOTED, SQUARE
    from x88.movegen import generate
    from x88.piece import PAWN, WHITE_PIECE


def _reductions() -> list[int]:
    """REDUCTION[depth << 6 | number of the move]: plies by which a late quiet move is searched less
    deeply.
    """
    table = [0] * 4096
    for depth in range(1, 64):
        for number in range(1, 64):
            table[depth << 6 | number] = int(0.5 + math.log(depth) * math.log(number) / 2.2)
    return table


REDUCTION = _reductions()
REVERSE_FUTILITY_DEPTH = 6
REVERSE_FUTILITY = 80
LATE_MOVE_DEPTH = 4
LATE_MOVES = 4
FUTILITY_DEPTH = 6
FUTILITY = 120
FUTILITY_STEP = 90


def search(
    searcher: Searcher, alpha: int, beta: int, depth: int, ply: int, sp: int, null_allowed: bool
) -> int:
    """The score of the position searched to a depth, fail-soft; the root is ply 0. Worthless once stopped."""
    # 1. The horizon.
    if depth <= 0:
        return quiesce(searcher, alpha, beta, ply, sp)
    if not searcher.enter(ply):
        return DRAW
    pv_node = beta - alpha > 1
    in_check = last_move_checks(searcher.board)

    if ply:
        # 2. Draws by rule. A first repetition counts: what can be repeated once can be repeated again.
        if searcher.board.is_repetition(1) or searcher.board.is_insufficient_material():
            return DRAW
        if searcher.board.halfmove >= 100:
            # Mate comes before the fifty-move rule.
            if in_check and generate(searcher.board, searcher.stack, sp) == sp:
                return ply - MATE
            return DRAW
        if ply >= MAX_PLY - 1:
            return DRAW if in_check else searcher.evaluation.value(searcher.board.side)
        # 3. Mate distance: no line from here beats a shorter mate already found.
        alpha = max(alpha, ply - MATE)
        beta = min(beta, MATE - ply - 1)
        if alpha >= beta:
            return alpha

    # 4. The table: a result of at least this depth decides, except where the principal variation is to be
    # shown.
    table_move = 0
    static = NO_SCORE
    data = searcher.table.probe(searcher.board.key)
    if data:
        table_move = move_of(data)
        static = static_of(data)
        if not pv_node and depth_of(data) >= depth and searcher.board.halfmove < 90:
            score = from_table(score_of(data), ply)
            bound = bound_of(data)
            if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
                return score
    if in_check:
        static = NO_SCORE
    elif static == NO_SCORE:
        static = searcher.evaluation.value(searcher.board.side)

    # 5. Reverse futility: near the horizon, a side that stands so far above beta will not be brought below.
    if (
        not pv_node
        and not in_check
        and depth <= REVERSE_FUTILITY_DEPTH
        and static - REVERSE_FUTILITY * depth >= beta
        and beta > -LONGEST_MATE
    ):
        return static

    # 6. Null move: a side that stands well even after passing will not be held below beta by any reply. Not
    # with pawns alone, where having to move can be the trouble.
    if (
        null_allowed
        and not pv_node
        and not in_check
        and depth >= 2
        and static >= beta
        and beta > -LONGEST_MATE
        and has_pieces(searcher.board)
    ):
        searcher.board.make_null()
        searcher.evaluation.make_null()
        score = -search(searcher, -beta, 1 - beta, depth - 3 - depth // 4, ply + 1, sp, False)
        searcher.evaluation.unmake()
        searcher.board.unmake_null()
        if searcher.stop.stopped:
            return DRAW
        if score >= beta:
            return beta if score >= LONGEST_MATE else score

    # 7. Moves, best first.
    end = generate(searcher.board, searcher.stack, sp)
    if end == sp:
        return ply - MATE if in_check else DRAW
    score_moves(searcher.stack, searcher.history, sp, end, ply, table_move)
    # 8. A check is looked through to its end.
    if in_check:
        depth += 1
    best = -INFINITE
    best_move = 0
    ordered = False
    old_alpha = alpha
    for i in range(sp, end):
        if not ordered:
            pick(searcher.board, searcher.stack, i, end)
            if searcher.stack.scores[i] < KILLER - 1:
                order_rest(searcher.board, searcher.stack, searcher.history, i, end)
                ordered = True
        move = searcher.stack.moves[i]
        number = i - sp + 1
        quiet = not move & (CAPTURED | PROMOTED)
        # 9. Near the horizon quiet moves that come late, or that would have to gain too much, are left out,
        # but for checks; one move has to be searched before.
        if quiet and not pv_node and not in_check and best > -LONGEST_MATE:
            if (
                (depth <= LATE_MOVE_DEPTH and number > LATE_MOVES + depth * depth)
                or (depth <= FUTILITY_DEPTH and static + FUTILITY + FUTILITY_STEP * depth <= alpha)
            ) and not gives_check(searcher.board, move):
                continue
        searcher.make(move)
        if number == 1:
            score = -search(searcher, -beta, -alpha, depth - 1, ply + 1, end, True)
        else:
            # 10. Late moves are expected to fail: a null window first, quiet ones less deeply.
            reduction = 0
            if quiet and depth >= 3 and number > 3 and not in_check:
                reduction = REDUCTION[min(depth, 63) << 6 | min(number, 63)] - pv_node
                reduction = max(0, min(reduction, depth - 2))
            score = -search(searcher, -alpha - 1, -alpha, depth - 1 - reduction, ply + 1, end, True)
            if reduction and score > alpha:
                score = -search(searcher, -alpha - 1, -alpha, depth - 1, ply + 1, end, True)
            if alpha < score < beta:
                score = -search(searcher, -beta, -alpha, depth - 1, ply + 1, end, True)
        searcher.unmake()
        if searcher.stop.stopped:
            return DRAW
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                if pv_node:
                    searcher.update_pv(ply, move)
                if score >= beta:
                    # 11. A quiet move that refutes is tried early elsewhere; those tried before it in vain,
                    # later.
                    if quiet:
                        reward(searcher, sp, i, ply, depth)
                    break

    bound = LOWER if best >= beta else EXACT if best > old_alpha else UPPER
    searcher.table.store(searcher.board.key, short_move(best_move), to_table(best, ply), static, depth, bound)
    return best


def has_pieces(board: Board) -> bool:
    """Whether the side to move has more than king and pawns."""
    own = WHITE_PIECE << board.side
    return board.count[board.side] > 1 + board.material[own | PAWN]


def reward(searcher: Searcher, sp: int, last: int, ply: int, depth: int) -> None:
    """Credit the quiet move at `last`, which caused a cutoff, and debit those searched before it."""
    bonus = min(depth * depth * 4, 1600)
    best = searcher.stack.moves[last]
    searcher.history.add_killer(ply, best)
    searcher.history.update(searcher.board.squares[best & SQUARE], best, bonus)
    for i in range(sp, last):
        move = searcher.stack.moves[i]
        if not move & (CAPTURED | PROMOTED):
            searcher.history.update(searcher.board.squares[move & SQUARE], move, -bonus)
