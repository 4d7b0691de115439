"""Iterative deepening: a search from its first iteration to its result."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.job import Job
from search.line import LOWER_BOUND, Line, Result
from x88.movegen import legal_moves

if not cython.compiled:
    from search.alphabeta import search
    from search.aspiration import iterate
    from search.score import DRAW, INFINITE, MATE, MAX_PLY
    from search.searcher import Searcher
    from search.transposition import move_of, short_move
    from x88.attack import in_check
    from x88.move import NO_MOVE

MATE_SALT = 0x5A17
"""Separates the table entries of mate searches, which are full-width, from those of searches with pruning."""


def deepen(job: Job) -> Result:
    """Search deeper until a limit of the job is met; returns the move to play. Raises as callbacks do."""
    searcher = job.pool.first
    legal = legal_moves(searcher.board)
    if not legal:
        job.report_line(Line(-MATE if in_check(searcher.board) else DRAW, [], 0))
        return Result(NO_MOVE, NO_MOVE, 0)
    moves = [move for move in legal if move in job.limits.searchmoves] or legal
    if not in_check(searcher.board):
        moves = [move for move in moves if not searcher.oversight.overlooks(searcher.board, move)] or moves
    job.ask_tablebases()
    best = job.best(moves)
    is_restricted = len(best) < len(legal)
    try:
        job.begin(best if is_restricted else [])
        line = _iterations(job, searcher, moves, is_restricted)[0]
    finally:
        job.end()
    other = job.pool.voted_line(line) if job.is_open_to_votes() else job.pool.finished_line()
    if other is not None:
        line = other
        job.report_line(line)
    reply = line.pv[1] if len(line.pv) > 1 else _expected_reply(searcher, line.pv[0])
    return Result(line.pv[0], reply, job.pool.nodes())


def _iterations(job: Job, searcher: Searcher, moves: list[int], is_restricted: bool) -> list[Line]:
    """Search these root moves deeper and deeper; returns the best lines, best first."""
    stop = job.pool.stop
    wanted = max(1, min(job.limits.lines, len(moves)))
    static = searcher.evaluation.value(searcher.board)
    best = job.best(moves)
    first = best + [move for move in moves if move not in best]
    lines = [Line(static, [move], 1) for move in first[:wanted]]
    shown = lines
    for depth in range(1, job.deepest() + 1):
        job.depth = depth
        found: list[Line] = []
        for number in range(wanted):
            job.number = number + 1
            taken = [line.pv[0] for line in found]
            job.expected = next(line.pv for line in lines if line.pv[0] not in taken)
            if is_restricted or number:
                left = job.best([move for move in moves if move not in taken])
                # The last iteration's next best move comes first.
                searcher.allow(sorted(left, key=job.expected[0].__ne__))
            score = _iterate(searcher, depth, lines[number].score)
            pv = searcher.principal_variation()
            job.has_move()
            if not stop.is_set():
                # A table with impossible scores may leave no move above alpha.
                if pv:
                    found.append(Line(score, pv, depth))
                continue
            # An iteration cut short still counts once it has a move: the first it tried was the last one's
            # best.
            if pv:
                found.append(Line(searcher.root_score, pv, depth))
            elif searcher.failed_high:
                found.append(searcher.kept_line()._replace(depth=depth, bound=LOWER_BOUND))
            break
        # The search for a mate of a given length keeps to the same moves.
        searcher.allow(best if is_restricted else [])
        heads = {line.pv[0] for line in found}
        rest = [line for line in lines if line.pv[0] not in heads]
        lines = (sorted(found, key=job.order) + rest)[:wanted]
        # Report an unfinished iteration too: what it has cost, and what it may have changed. But no line that
        # has never been searched, unless there is no other.
        shown = lines if depth > 1 else lines[: max(1, len(found))]
        job.report_iteration(shown)
        if stop.is_set():
            break
        if job.limits.mate is not None:
            if _finds_mate(job, searcher, min(job.limits.mate, MAX_PLY // 2), lines, depth):
                break
        share = searcher.nodes_under(lines[0].pv[0]) / max(1, searcher.nodes)
        if job.after_iteration(lines[0].pv[0], lines[0].score, share, depth, len(best)):
            break
    job.report_last(lines, shown)
    return lines


def _finds_mate(job: Job, searcher: Searcher, moves: int, lines: list[Line], depth: int) -> bool:
    """Whether there is a mate in this many moves: found by the iteration, or by an extra mate search."""
    if lines[0].score < MATE - 2 * moves:
        # Within these bounds nothing is left out that could be the mate, neither now nor where the result is
        # the table's.
        searcher.seeks_mate = True
        searcher.salt = MATE_SALT
        searcher.extension_ply = depth
        searcher.failed_high = False
        least = MATE - 2 * moves
        with cython.nogil:
            score = search(searcher, least, INFINITE, depth, 0, 0, False)
        searcher.seeks_mate = False
        searcher.salt = 0
        if score > least and not job.pool.stop.is_set():
            mate = Line(score, searcher.principal_variation(), depth)
            others = [line for line in lines if line.pv[0] != mate.pv[0]]
            lines[:] = [mate, *others][: len(lines)]
            job.report_lines(lines)
    return lines[0].score > MATE - 2 * moves


def _expected_reply(searcher: Searcher, move: int) -> int:
    """The transposition table's reply to a root move, or NO_MOVE."""
    board = searcher.board
    board.make_unchecked(move)
    data = searcher.table.probe(board.key)
    expected = [reply for reply in legal_moves(board) if data and short_move(reply) == move_of(data)]
    board.unmake_unchecked()
    return expected[0] if expected else NO_MOVE


def _iterate(searcher: Searcher, depth: int, guess: int) -> int:
    with cython.nogil:
        return iterate(searcher, depth, guess)
