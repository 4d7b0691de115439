"""The move picker: the moves of a node in the order in which the search tries them.

It works in stages, because most nodes fail high early:

1. The TT move, before any move is generated.
2. Generate and score the moves.
3. Good captures, queen promotions and killers, picked one by one. Static exchange evaluation waits until a
   capture is picked.
4. All others, sorted: quiet moves, then bad captures and underpromotions.

Quiescence and ProbCut end with the good captures. Quiescence in check picks all moves one by one.

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
    from search.oversight import Oversight
    from search.parameters import Parameters
    from search.transposition import short_move
    from x88.attack import attacked_squares, see_at_least
    from x88.board import Board
    from x88.move import CAPTURED, NO_MOVE, PROMOTED, captured_of, moved_of, origin_of, promoted_of, target_of
    from x88.movegen import MoveStack, generate, generate_captures, plain_move
    from x88.piece import QUEEN

    MAIN = 0
    CAPTURES = 1
    EVASIONS = 2

    TT_MOVE = 1000000
    GOOD_CAPTURE = 500000
    KILLER = 400000
    BAD_CAPTURE = -500000
    SELECTION_COST = 4

VALUE = piece.VALUE


class MovePicker:
    """The move lists of the line being searched.

    The main search and ProbCut use slot 2 * ply. Quiescence and singular search, which runs inside the move
    loop of the same ply, use slot 2 * ply + 1.

    `kinds[slot]` is MAIN, CAPTURES or EVASIONS. Until `generated[slot]`, the list holds only the TT move. It
    ends at index `ends[slot]` of the stack; its moves before `ready[slot]` are in order, and those from
    `quiets[slot]` on have no score yet. The history knows the attacked squares at a ply for the position
    whose key is `attacked_keys[ply]`.
    """

    def __init__(
        self, stack: MoveStack, history: History, parameters: Parameters, oversight: Oversight
    ) -> None:
        self.stack = stack
        self.history = history
        self.parameters = parameters
        self.oversight = oversight
        self.kinds = [0] * 496
        self.generated = [False] * 496
        self.ends = [0] * 496
        self.ready = [0] * 496
        self.quiets = [0] * 496
        self.attacked_keys = [0] * 248

    def begin(self, board: Board, slot: int, sp: int, tt_move: int, kind: int, tt_first: bool) -> None:
        """Begin a list at index `sp` of the stack. If `tt_first` is set (never in check) and the TT move is
        legal and, for CAPTURES, a capture, generate no others yet.
        """
        self.kinds[slot] = kind
        self.ready[slot] = sp
        if tt_first and tt_move:
            move = plain_move(board, origin_of(tt_move), target_of(tt_move))
            if move != NO_MOVE and short_move(move) == tt_move and (kind == MAIN or move & CAPTURED):
                if not move & CAPTURED:
                    self._see_attacks(board, slot >> 1)
                self.stack.moves[sp] = move
                self.stack.scores[sp] = TT_MOVE
                self.ready[slot] = self.ends[slot] = sp + 1
                self.generated[slot] = False
                return
        self._generate(board, slot, sp, tt_move)

    def _generate(self, board: Board, slot: int, sp: int, tt_move: int) -> None:
        """Generate and score all moves, or captures and promotions only."""
        self.generated[slot] = True
        if self.kinds[slot] == CAPTURES:
            end = generate_captures(board, self.stack, sp)
        else:
            end = generate(board, self.stack, sp)
        # The root's moves are given.
        if self.oversight.odds and slot > 1:
            noticed = self.oversight.remove(board, self.stack, sp, end, tt_move)
            if noticed > sp or self.kinds[slot] == CAPTURES:
                end = noticed
        self.ends[slot] = self.quiets[slot] = end
        if end > sp:
            weight = self.parameters.capture_history
            quiets = score_moves(self.stack, self.history, sp, end, board.side, slot >> 1, tt_move, weight)
            if self.kinds[slot] == MAIN:
                self.quiets[slot] = quiets

    def advance(self, board: Board, slot: int, i: int, wanted: int) -> int:
        """`next_move` for a move that is not in order yet."""
        if i == self.ends[slot]:
            if self.generated[slot]:
                return -1
            self._generate(board, slot, i - 1, short_move(self.stack.moves[i - 1]))
            if i == self.ends[slot]:
                return -1
        kind = self.kinds[slot]
        # Pick the best move that has a score. A capture that loses material goes behind the quiet moves.
        end = self.quiets[slot]
        while i < end:
            best = i
            for j in range(i + 1, end):
                if self.stack.scores[j] > self.stack.scores[best]:
                    best = j
            move = self.stack.moves[best]
            score = self.stack.scores[best]
            if score > KILLER and score != TT_MOVE and not _is_good_capture(board, move):
                self.stack.scores[best] = score + BAD_CAPTURE - GOOD_CAPTURE
                continue
            # Shift rather than swap, to keep the order of the others.
            for j in range(best, i, -1):
                self.stack.moves[j] = self.stack.moves[j - 1]
                self.stack.scores[j] = self.stack.scores[j - 1]
            self.stack.moves[i] = move
            self.stack.scores[i] = score
            if score < KILLER - 1 and kind != EVASIONS:
                break
            if kind == MAIN and not move & (CAPTURED | PROMOTED):
                self._see_attacks(board, slot >> 1)
            return i
        if kind == CAPTURES:
            return -1
        # Only quiet moves and bad captures are left.
        self._see_attacks(board, slot >> 1)
        end = self.ends[slot]
        sort_quiets(self.stack, self.history, i, end, board.side, slot >> 1, wanted)
        self.ready[slot] = end
        return i

    def _see_attacks(self, board: Board, ply: int) -> None:
        """Tell the history which squares the opponent attacks, once per position."""
        if self.attacked_keys[ply] != board.key:
            self.attacked_keys[ply] = board.key
            self.history.set_attacked(ply, attacked_squares(board, board.side ^ 1))


if not cython.compiled:

    def next_move(picker: MovePicker, board: Board, slot: int, i: int, wanted: int) -> int:
        """Put the next move of the list at index `i` of the stack. Returns `i`, or -1 after the last move. At
        least the best `wanted` quiet moves come in order.
        """
        return i if i < picker.ready[slot] else picker.advance(board, slot, i, wanted)


def score_moves(
    stack: MoveStack, history: History, sp: int, end: int, side: int, ply: int, tt_move: int, weight: int
) -> int:
    """Score the TT move, captures, promotions and killers between `sp` and `end`, and move them to the front,
    the TT move first. Returns where the other quiet moves begin; `sort_quiets` scores them. `weight` is the
    weight of capture history in 1024ths.
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
        place = sp if score == TT_MOVE else front
        for j in range(front, place, -1):
            stack.moves[j] = stack.moves[j - 1]
            stack.scores[j] = stack.scores[j - 1]
        stack.moves[place] = move
        stack.scores[place] = score
        front += 1
    return front


def sort_quiets(
    stack: MoveStack, history: History, start: int, end: int, side: int, ply: int, wanted: int
) -> None:
    """Add the history scores to the remaining moves and sort them, or at least the best `wanted`.

    A node that gets here searches most of its moves, so one insertion sort is cheaper than picking moves one
    by one, unless late move pruning leaves only a few.
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
    """The bonus for a capture or promotion before static exchange evaluation."""
    if move & PROMOTED and promoted_of(move) != QUEEN:
        return BAD_CAPTURE
    return GOOD_CAPTURE + (history.capture_score(side, move) * weight >> 10)


def _is_good_capture(board: Board, move: int) -> bool:
    """Whether a capture or promotion loses no material, as when the victim is worth at least as much."""
    return VALUE[captured_of(move)] >= VALUE[moved_of(move)] or see_at_least(board, move, 0)
