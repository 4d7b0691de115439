"""Quiescence search on linked rays and on the moff loop, to compare the speed of the two generators.

It is a plain quiescence search, without transposition table, pruning margins or move limit, so that move
generation dominates. Both generators visit the same nodes.

The two are equally fast here, but updating the rays throughout the main search costs more than it saves
(bench/RESULTS.md), so the engine uses the moff loop. `bench/generators.py` runs both.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.movepick import pick, score_captures, score_moves
    from search.score import DRAW, MATE, MAX_PLY
    from search.searcher import Searcher
    from x88 import movegen
    from x88.attack import last_move_checks
    from x88.movegen import generate
    from x88.rays import Rays, captures_from_front, generate_captures

    MOFF_LOOP = 0
    LINKED = 1
    FROM_FRONT = 2


def quiesce(searcher: Searcher, rays: Rays, alpha: int, beta: int, ply: int, sp: int, generator: int) -> int:
    """The fail-soft quiescence score, with captures from the given generator."""
    if not searcher.enter(ply):
        return DRAW
    if searcher.board.is_insufficient_material():
        return DRAW
    in_check = last_move_checks(searcher.board)
    best = ply - MATE if in_check else searcher.evaluation.value(searcher.board)
    if ply >= MAX_PLY - 1:
        return DRAW if in_check else best
    if best >= beta:
        return best
    if best > alpha:
        alpha = best

    if generator == MOFF_LOOP:
        end = movegen.generate_captures(searcher.board, searcher.stack, sp)
    elif generator == LINKED:
        end = generate_captures(searcher.board, rays, searcher.stack, sp)
    else:
        end = captures_from_front(searcher.board, rays, searcher.stack, sp)
    if in_check:
        score_moves(searcher.stack, searcher.history, sp, end, searcher.board.side, ply, 0, 0)
    else:
        score_captures(searcher.stack, searcher.history, sp, end, searcher.board.side, 0, 0)
    for i in range(sp, end):
        move = pick(searcher.board, searcher.stack, i, end)
        if not in_check and searcher.stack.scores[i] < 0:
            break
        searcher.make(move, ply)
        if generator != MOFF_LOOP:
            rays.make(searcher.board, move)
        score = -quiesce(searcher, rays, -beta, -alpha, ply + 1, end, generator)
        searcher.unmake()
        if generator != MOFF_LOOP:
            rays.unmake(searcher.board)
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


def sum_leaves(
    searcher: Searcher, rays: Rays, alpha: int, beta: int, depth: int, ply: int, sp: int, generator: int
) -> int:
    """The sum of White's quiescence scores over all leaves at `depth` plies: the work to measure.

    `generator` is MOFF_LOOP, LINKED or FROM_FRONT. Rays are updated only if they are used. The searcher
    counts the nodes.
    """
    if depth == 0:
        score = quiesce(searcher, rays, alpha, beta, ply, sp, generator)
        return -score if searcher.board.side else score
    total = 0
    end = generate(searcher.board, searcher.stack, sp)
    for i in range(sp, end):
        move = searcher.stack.moves[i]
        searcher.make(move, ply)
        if generator != MOFF_LOOP:
            rays.make(searcher.board, move)
        total += sum_leaves(searcher, rays, -beta, -alpha, depth - 1, ply + 1, end, generator)
        searcher.unmake()
        if generator != MOFF_LOOP:
            rays.unmake(searcher.board)
    return total


def run(searcher: Searcher, rays: Rays, depth: int, generator: int) -> int:
    """`sum_leaves` of the searcher's position, in a window of one pawn around its static evaluation, without
    the GIL.
    """
    rays.reset(searcher.board)
    static = searcher.evaluation.value(searcher.board)
    with cython.nogil:
        return sum_leaves(searcher, rays, static - 50, static + 50, depth, 0, 0, generator)
