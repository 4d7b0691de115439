"""The move picker: scores moves for ordering and picks the best remaining one.

| move | score |
|---|---|
| TT move | TT_MOVE |
| captures and queen promotions | GOOD_CAPTURE + the generator's score + capture history |
| killer moves | KILLER, or KILLER - 1 for the older one |
| quiet moves and castling | quiet history + the generator's score |
| captures that fail static exchange evaluation | BAD_CAPTURE + the generator's score + capture history |
| underpromotions | BAD_CAPTURE + the generator's score |
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece

if not cython.compiled:
    from search.history import History
    from search.searcher import Searcher
    from search.transposition import short_move
    from x88.attack import see_at_least
    from x88.board import Board
    from x88.move import CAPTURED, NO_MOVE, PROMOTED, captured_of, moved_of, origin_of, promoted_of, target_of
    from x88.movegen import MoveStack, generate, generate_captures, plain_move
    from x88.piece import QUEEN

    TT_MOVE = 1000000
    GOOD_CAPTURE = 500000
    KILLER = 400000
    BAD_CAPTURE = -500000
    SELECTION_COST = 4

VALUE = piece.VALUE


def score_moves(
    stack: MoveStack, history: History, sp: int, end: int, side: int, ply: int, tt_move: int, weight: int
) -> int:
    """Score the moves from `sp` to `end` for the search and put the other quiet moves, whose history waits
    for `sort_quiets`, behind the TT move, captures, promotions and killers, in any order. Returns where they
    begin, so that `pick` need not look at them. `weight` is the weight of capture history in 1024ths.
    """
    first = history.killers[2 * ply]
    second = history.killers[2 * ply + 1]
    # Compare the squares first: it avoids the call for most moves.
    tt_squares = tt_move & 0x3FFF if tt_move else -1
    front = sp
    for i in range(sp, end):
        move = stack.moves[i]
        if move & 0x3FFF == tt_squares and short_move(move) == tt_move:
            score = TT_MOVE
        elif move & (CAPTURED | PROMOTED):
            score = stack.scores[i] + _capture_score(history, side, move, weight)
        elif move == first:
            score = KILLER
        elif move == second:
            score = KILLER - 1
        else:
            continue
        stack.moves[i] = stack.moves[front]
        stack.scores[i] = stack.scores[front]
        stack.moves[front] = move
        stack.scores[front] = score
        front += 1
    return front


def score_captures(
    stack: MoveStack, history: History, sp: int, end: int, side: int, tt_move: int, weight: int
) -> None:
    """Score a list that holds only captures and promotions."""
    for i in range(sp, end):
        move = stack.moves[i]
        if tt_move and short_move(move) == tt_move:
            stack.scores[i] = TT_MOVE
        else:
            stack.scores[i] += _capture_score(history, side, move, weight)


def sort_quiets(
    stack: MoveStack, history: History, start: int, end: int, side: int, ply: int, wanted: int
) -> None:
    """Add the history scores and sort the remaining moves, after captures and killers have been searched: all
    of them, or at least the best `wanted`.

    Most nodes fail high before that. The others search most of their moves, so one insertion sort is cheaper
    than picking moves one by one, unless late move pruning leaves only a few.
    """
    history.add_quiet_scores(stack, start, end, side, ply)
    if wanted * SELECTION_COST < end - start:
        for i in range(start, start + wanted):
            best = i
            for j in range(i + 1, end):
                if stack.scores[j] > stack.scores[best]:
                    best = j
            move = stack.moves[best]
            score = stack.scores[best]
            stack.moves[best] = stack.moves[i]
            stack.scores[best] = stack.scores[i]
            stack.moves[i] = move
            stack.scores[i] = score
        return
    for i in range(start + 1, end):
        move = stack.moves[i]
        score = stack.scores[i]
        j = i
        while j > start and stack.scores[j - 1] < score:
            stack.moves[j] = stack.moves[j - 1]
            stack.scores[j] = stack.scores[j - 1]
            j -= 1
        stack.moves[j] = move
        stack.scores[j] = score


def _capture_score(history: History, side: int, move: int, weight: int) -> int:
    """What to add to the generator's score of a capture or promotion. `pick` does the exchange evaluation."""
    if move & PROMOTED and promoted_of(move) != QUEEN:
        return BAD_CAPTURE
    return GOOD_CAPTURE + (history.capture_score(side, move) * weight >> 10)


def pick(board: Board, stack: MoveStack, start: int, end: int) -> int:
    """Move the best remaining move to index `start` and return it. Equal scores keep the order of the list.

    Static exchange evaluation waits until a capture is picked, since most nodes fail high early. A capture
    that loses material is moved behind the quiet moves.
    """
    while True:
        best = start
        for i in range(start + 1, end):
            if stack.scores[i] > stack.scores[best]:
                best = i
        move = stack.moves[best]
        score = stack.scores[best]
        if score <= KILLER or score == TT_MOVE or _is_good_capture(board, move):
            break
        stack.scores[best] += BAD_CAPTURE - GOOD_CAPTURE
    # Shift rather than swap, to keep the order of the others.
    for i in range(best, start, -1):
        stack.moves[i] = stack.moves[i - 1]
        stack.scores[i] = stack.scores[i - 1]
    stack.moves[start] = move
    stack.scores[start] = score
    return move


def _is_good_capture(board: Board, move: int) -> bool:
    """Whether a capture or promotion does not lose material. Capturing a piece of at least equal value never
    does.
    """
    if VALUE[captured_of(move)] >= VALUE[moved_of(move)] and not move & PROMOTED:
        return True
    return see_at_least(board, move, 0)


def push_tt_move(searcher: Searcher, sp: int, tt_move: int, captures: bool) -> int:
    """Push the TT move if it can be verified without generating moves, and if it is a capture when `captures`
    is set. Returns the end of the list.
    """
    move = plain_move(searcher.board, origin_of(tt_move), target_of(tt_move))
    if move == NO_MOVE or short_move(move) != tt_move or (captures and not move & CAPTURED):
        return sp
    searcher.stack.moves[sp] = move
    searcher.stack.scores[sp] = TT_MOVE
    return sp + 1


def generate_scored(searcher: Searcher, sp: int, ply: int, tt_move: int, captures: bool) -> int:
    """Generate and score all legal moves, or only captures and promotions (not in check). Returns the end of
    the list; of all moves, the quiet ones without a score begin at `searcher.quiets_begin`.
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
        searcher.quiets_begin = score_moves(
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
