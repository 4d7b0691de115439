"""An iteration at the root with its aspiration window, and the iterations of a helper thread.

Source of lazy SMP: Emil Fredrik Østensen, "A complete chess engine parallelized using lazy SMP", 2016. Every
thread searches the same root on its own, at staggered depths; they share results through the table.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.alphabeta import search
    from search.score import INFINITE, LONGEST_MATE, MAX_PLY
    from search.searcher import Searcher


def iterate(searcher: Searcher, depth: int, guess: int) -> int:
    """Search the root to a depth, in an aspiration window around a guess. The window widens after a fail high
    or low.

    Returns the score; discard it if the search was stopped. `failed_high` then says whether a line that
    failed high was kept.
    """
    width = searcher.parameters.aspiration
    alpha = -INFINITE
    beta = INFINITE
    if depth >= 5 and abs(guess) < LONGEST_MATE:
        alpha = guess - width
        beta = guess + width
    searcher.extension_ply = depth
    searcher.failed_high = False
    searcher.failed_low = False
    while True:
        score = search(searcher, alpha, beta, depth, 0, 0, False)
        if searcher.stop.stopped != 0 or alpha < score < beta:
            return score
        is_upper = score <= alpha
        if (alpha == -INFINITE) if is_upper else (beta == INFINITE):
            return score  # from a damaged table entry: the window cannot be widened further
        width *= 4
        searcher.failed_low = is_upper
        searcher.failed_high = not is_upper  # a line that failed low after it had failed high is refuted
        if is_upper:
            alpha = max(-INFINITE, score - width) if width < 500 else -INFINITE
        else:
            searcher.keep_line(depth, score)
            beta = min(INFINITE, score + width) if width < 500 else INFINITE
        if searcher.is_reporting:
            searcher.report_bound(score, is_upper)


def help_along(searcher: Searcher, number: int, last: int) -> bool:
    """Deepen until stopped, as helper `number`, counted from 1, and keep the line of each iteration.

    The first to finish the iteration of depth `last` ends the search; with 0, only the main searcher may.
    Returns whether this helper did.
    """
    searcher.is_searching = True
    try:
        with cython.nogil:
            return _help_along(searcher, number, last)
    finally:
        searcher.is_searching = False
        searcher.check_time()


def _help_along(searcher: Searcher, number: int, last: int) -> bool:
    score = 0
    for depth in range(1, MAX_PLY):
        if depth != last and _skips(number, depth):
            continue
        score = iterate(searcher, depth, score)
        if searcher.stop.stopped:
            return False
        searcher.keep_line(depth, score)
        if depth == last:
            searcher.stop.finish()
            return True
    return False


def _skips(number: int, depth: int) -> bool:
    """Whether a helper skips an iteration: every second one, pair or triple, to vary the threads' depths."""
    return depth > 3 and (depth + number) // (1 + number % 3) % 2 == 1
