"""Iterations of the root: one with its aspiration window, and the series of them that a helper thread searches.

Source of lazy SMP, in which every thread searches the same root by itself, the depths staggered, and what one
finds reaches the others through the table: Emil Fredrik Østensen, "A complete chess engine parallelized using
lazy SMP", 2016.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.alphabeta import search
    from search.score import INFINITE, LONGEST_MATE
    from search.searcher import Searcher


def iterate(searcher: Searcher, depth: int, guess: int) -> int:
    """The score of the root searched to a depth: first in a narrow window around a guess, which is widened as
    long as the score falls outside.

    Discard the result if the search was stopped. `failed_high` then tells whether a line was kept that has
    failed high.
    """
    width = searcher.parameters.aspiration
    alpha = -INFINITE
    beta = INFINITE
    if depth >= 5 and abs(guess) < LONGEST_MATE:
        alpha = guess - width
        beta = guess + width
    searcher.extension_ply = depth
    searcher.failed_high = False
    while True:
        score = search(searcher, alpha, beta, depth, 0, 0, False)
        if searcher.stop.stopped or alpha < score < beta or (alpha == -INFINITE and beta == INFINITE):
            return score
        width *= 4
        is_upper = score <= alpha
        if is_upper:
            alpha = max(-INFINITE, score - width) if width < 500 else -INFINITE
        else:
            searcher.keep_line(depth, score)
            searcher.failed_high = True
            beta = min(INFINITE, score + width) if width < 500 else INFINITE
        if searcher.is_telling:
            searcher.tell_bound(score, is_upper)


def help_along(searcher: Searcher, number: int, deepest: int) -> None:
    """Search the root deeper and deeper as helper `number`, from 1 on, until stopped. The line of the last
    finished iteration is kept.
    """
    score = 0
    for depth in range(1, deepest + 1):
        if _skips(number, depth):
            continue
        score = iterate(searcher, depth, score)
        if searcher.stop.stopped:
            return
        searcher.keep_line(depth, score)


def _skips(number: int, depth: int) -> bool:
    """Whether a helper leaves a depth out: every second one, pair, or three of them, so that threads spread."""
    return depth > 3 and (depth + number) // (1 + number % 3) % 2 == 1
