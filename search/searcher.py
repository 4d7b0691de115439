"""The state of one search thread: board, move stack, evaluation, history and counters.

Threads share the transposition table, correction history and the stop signal.
"""

from collections.abc import Callable

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.line import Line
from search.nnue import select
from search.nnue.network import Weights

if not cython.compiled:
    from search.correction import Corrections
    from search.history import BEFORE_ROOT, History
    from search.keys import Keys
    from search.movepick import MovePicker
    from search.nnue.evaluate import Evaluation
    from search.nodecounts import NodeCounts
    from search.oversight import Oversight
    from search.parameters import Parameters
    from search.score import MAX_PLY, NO_SCORE
    from search.stop import Stop
    from search.system import monotonic_ns, yield_processor
    from search.syzygy.probing import Probing
    from search.transposition import TranspositionTable
    from x88.atomic import plain
    from x88.board import Board
    from x88.move import NO_MOVE
    from x88.movegen import MAX_MOVES, MoveStack, generate
    from x88.piece import BLACK, WHITE


SECOND = 1_000_000_000
"""In nanoseconds."""


class Searcher:
    """The state of one search.

    By ply: `pv[ply * MAX_PLY + i]` is the triangular PV table, each row up to `pv_ends[ply]`;
    `static_evals[ply]` the corrected static evaluation, NO_SCORE in check; `excluded[ply]` what a search of
    the same node leaves out, a move or NULL_MOVE, or 0; `reductions[ply]` the reduction of the move being
    searched. Null moves are allowed from `null_ply` on, extensions of single evasions and singular moves
    before `extension_ply`. While `seeks_mate`, windows of mate scores are searched full-width.

    A searcher may search `node_limit` nodes (0: no limit) and then takes `node_share` more of those that are
    left to all threads, as long as there are any. `tb_hits` counts the tablebase hits. It
    publishes its counts for other threads each time it checks the clock.

    `salt` is combined with every key of the table and separates searches whose results are not
    interchangeable. `kept_line`, `kept_score` and `kept_depth` hold the last line of the root that was kept.

    The search thread checks the clock itself. The deadlines are readings of `monotonic_ns`, 0 for none: the
    search stops at `deadline`, at `fail_low_deadline` while the root has `failed_low`, at `grace_deadline`
    as long as it has no move (`has_move`). If `next_tick` is not 0, `on_tick` is called at that time and
    every second after it. A searcher that `yields` yields its processor at each check of the clock.

    At the root, `root_score` is the score of the principal variation, and `root_nodes[i]` counts the nodes of
    `root_moves[i]` in all iterations. If `allowed` is not empty, only those moves are searched, starting with
    the first. While `is_reporting`, `on_root_move` is called with each root move, packed, and its number.
    `counts`, if any, counts the nodes of the first two plies.
    """

    def __init__(
        self,
        table: TranspositionTable,
        stop: Stop,
        parameters: Parameters | None = None,
        probing: Probing | None = None,
        weights: Weights | None = None,
        corrections: Corrections | None = None,
    ) -> None:
        """`weights` are those of a network, by default of the one that comes with Moff. Without
        `corrections`, correction history is the searcher's own.
        """
        if not isinstance(table, TranspositionTable) or not isinstance(stop, Stop):
            raise TypeError("a searcher needs a table and a stop signal")
        self.table = table
        self.stop = stop
        self.parameters = parameters or Parameters()
        self.probing = probing or Probing()
        self.board = Board()
        self.stack = MoveStack()
        self.evaluation = Evaluation(select.layer(weights or select.shipped()))
        self.keys = Keys()
        self.history = History()
        self.oversight = Oversight()
        self.picker = MovePicker(self.stack, self.history, self.parameters, self.oversight)
        self.corrections = corrections or Corrections()
        self.pv = [0] * 61504
        self.pv_ends = [0] * 248
        self.static_evals = [0] * 248
        self.excluded = [0] * 248
        self.reductions = [0] * 248
        self.null_ply = 0
        self.extension_ply = 0
        self.seeks_mate = False
        self.salt = 0
        self.nodes = 0
        self.tb_hits = 0
        self.node_limit = 0
        self.node_share = 0
        self.seldepth = 0
        self.published_nodes = 0
        self.published_tb_hits = 0
        self.published_seldepth = 0
        self.kept = [0] * 248
        self.kept_count = 0
        self.kept_score = 0
        self.kept_depth = 0
        self.failed_high = False
        self.failed_low = False
        self.root_moves = [0] * 448
        self.root_nodes = [0] * 448
        self.root_count = 0
        self.root_began = 0
        self.reply_began = 0
        self.counts: NodeCounts | None = None
        self.root_score = 0
        self.allowed = [0] * 448
        self.allowed_count = 0
        self.clock_mask = 1023 if cython.compiled else 15  # check the clock when nodes & mask is 0
        self.deadline = 0
        self.fail_low_deadline = 0
        self.grace_deadline = 0
        self.has_move = False
        self.next_tick = 0
        self.yields = False
        self.on_tick: Callable[[], object] | None = None
        self.is_reporting = False
        self.on_root_move: Callable[[int, int], object] | None = None
        self.on_bound: Callable[[int, bool], object] | None = None
        self.is_searching = False

    def prepare(self, board: Board, node_limit: int, node_share: int = 0) -> None:
        """Set up a search of a position with at most `node_limit` nodes (0: no limit), and shares of those
        that are left to all threads. Raises RuntimeError while a helper searches, and ValueError if there are
        no kings.
        """
        self._check_idle()
        board.king(WHITE)
        self.board = board.copy()
        self.board.make_room(MAX_PLY)
        self.history.age()
        self.begin(node_limit)
        self.node_share = node_share
        if self.counts is not None:
            self.counts.begin(self.board.key)

    def begin(self, node_limit: int) -> None:
        """Set up a search of the position on the board with at most `node_limit` nodes (0: no limit)."""
        self.evaluation.reset(self.board)
        self.keys.reset(self.board)
        self.history.new_search()
        self.history.weigh(
            self.parameters.fourth_history, self.parameters.pawn_history, self.parameters.continuation_base
        )
        self.record_game()
        self.forget_search()
        self.node_limit = plain(node_limit)
        self.node_share = 0
        self.seldepth = 0
        self.null_ply = 0
        self.deadline = self.fail_low_deadline = self.grace_deadline = self.next_tick = 0
        self.has_move = False
        self.pv_ends[0] = 0
        for i in range(248):
            self.static_evals[i] = NO_SCORE
            self.excluded[i] = 0
            self.reductions[i] = 0
        self.allowed_count = 0
        self.root_count = generate(self.board, self.stack, 0)
        for i in range(self.root_count):
            self.root_moves[i] = self.stack.moves[i]
            self.root_nodes[i] = 0

    def record_game(self) -> None:
        """Record the last moves of the game, so that continuation and correction history can look back past
        the root.
        """
        side = self.board.side
        for back in range(1, min(self.board.ply, BEFORE_ROOT) + 1):
            side ^= 1
            move = self.board.undo[self.board.ply - back].move
            if move != NO_MOVE:
                self.history.record_move(-back, side, move)

    def evaluation_by(self, weights: Weights) -> Evaluation:
        """An evaluation by another network, with the noise of this one."""
        found = Evaluation(select.layer(weights))
        found.blur = self.evaluation.blur
        found.seed = self.evaluation.seed
        return found

    def use_network(self, evaluation: Evaluation) -> None:
        """Use another evaluation, between searches. Raises RuntimeError while a helper searches."""
        self._check_idle()
        self.evaluation = evaluation

    def _check_idle(self) -> None:
        if self.is_searching:
            raise RuntimeError("a helper is searching")

    def forget(self) -> None:
        """Forget what was learnt of moves."""
        self.history.clear()

    def forget_search(self) -> None:
        """Forget what the last search has counted and kept."""
        self.nodes = 0
        self.tb_hits = 0
        self.published_nodes = 0
        self.published_tb_hits = 0
        self.published_seldepth = 0
        self.kept_count = 0
        self.kept_depth = 0

    def allow(self, moves: list[int]) -> None:
        """Restrict the root to these moves, starting with the first; an empty list lifts the restriction.
        Raises ValueError for more moves than a position has.
        """
        if len(moves) > MAX_MOVES:
            raise ValueError(f"{len(moves)} moves are more than a position has")
        self.allowed_count = 0
        for move in moves:
            self.allowed[self.allowed_count] = move
            self.allowed_count += 1

    def keep_allowed(self) -> None:
        """Remove all moves that are not allowed from the list of root moves."""
        kept = 0
        for i in range(self.picker.ends[0]):
            for j in range(self.allowed_count):
                if self.stack.moves[i] == self.allowed[j]:
                    self.stack.moves[kept] = self.stack.moves[i]
                    self.stack.scores[kept] = self.stack.scores[i]
                    kept += 1
                    break
        self.picker.ends[0] = self.picker.quiets[0] = kept

    def begin_root_move(self, move: int, number: int) -> None:
        """Start counting the nodes of a root move, and report it."""
        self.root_began = self.nodes
        if self.is_reporting:
            self._report_root_move(move, number)

    def end_root_move(self, move: int) -> None:
        """Add the nodes searched since `begin_root_move` to the root move."""
        for i in range(self.root_count):
            if self.root_moves[i] == move:
                self.root_nodes[i] += self.nodes - self.root_began
        if self.counts is not None:
            self.counts.add(move, NO_MOVE, self.nodes - self.root_began)

    def begin_reply(self) -> None:
        """Start counting the nodes of a reply to a root move."""
        self.reply_began = self.nodes

    def end_reply(self, reply: int) -> None:
        """Count the nodes searched since `begin_reply`."""
        if self.counts is not None:
            self.counts.add(self.board.last_move(), reply, self.nodes - self.reply_began)

    def nodes_under(self, move: int) -> int:
        """The number of nodes searched under a root move."""
        return sum(self.root_nodes[i] for i in range(self.root_count) if self.root_moves[i] == move)

    def _report_root_move(self, move: int, number: int) -> None:
        if self.on_root_move is not None:
            self.on_root_move(move, number)

    def limit_time(self, milliseconds: float, fail_low: float, grace: float) -> None:
        """Stop `milliseconds` from now; `fail_low` milliseconds from now as long as the root has failed low,
        `grace` milliseconds from now as long as there is no move.
        """
        now = monotonic_ns()
        # 0 means no deadline. The first one is set last: the search thread may read them in between.
        self.grace_deadline = plain(max(1, now + int(grace * 1_000_000)))
        self.fail_low_deadline = plain(max(1, now + int(fail_low * 1_000_000)))
        self.deadline = plain(max(1, now + int(milliseconds * 1_000_000)))

    def tick_after(self, milliseconds: float) -> None:
        """Call `on_tick` this many milliseconds from now, and every second after that."""
        self.next_tick = plain(max(1, monotonic_ns() + int(milliseconds * 1_000_000)))

    def limit_nodes(self, limit: int, share: int) -> None:
        """Search at most `limit` nodes, and shares of those that are left to all threads."""
        self.node_limit = plain(limit)
        self.node_share = share

    def lower_node_limit(self, limit: int) -> None:
        """Search at most `limit` nodes, or fewer if that was the limit before."""
        self.node_limit = plain(min(plain(self.node_limit) or limit, limit))

    def published(self) -> tuple[int, int, int]:
        """Nodes, tablebase hits and the deepest ply reached when the clock was last checked."""
        return plain(self.published_nodes), plain(self.published_tb_hits), plain(self.published_seldepth)

    def check_time(self) -> None:
        """Publish the counts, give way, and stop if it is time to."""
        self.published_nodes = self.nodes
        self.published_tb_hits = self.tb_hits
        self.published_seldepth = self.seldepth
        if self.yields:
            yield_processor()
        if not self.deadline and not self.next_tick:
            return
        now = monotonic_ns()
        if self.deadline:
            deadline = self.fail_low_deadline if self.failed_low else self.deadline
            if now >= (deadline if self.has_move else self.grace_deadline):
                self.stop.set()
        if self.next_tick != 0 and now >= self.next_tick:
            self.next_tick = now + SECOND
            self._tick()

    def take_nodes(self) -> bool:
        """Take a share of the nodes that are left; if there are none, stop the search."""
        taken = self.stop.take(self.node_share) if self.node_share else 0
        if taken == 0:
            self.stop.set()
            return False
        self.node_limit += taken
        return True

    def key(self) -> int:
        """The key of the position in the table."""
        return self.board.key ^ self.salt

    def keep_line(self, depth: int, score: int) -> None:
        """Keep the principal variation of the root."""
        self.kept_count = self.pv_ends[0]
        for i in range(self.kept_count):
            self.kept[i] = self.pv[i]
        self.kept_depth = depth
        self.kept_score = score

    def kept_line(self) -> Line:
        """The line kept; it has no moves if there is none."""
        return Line(self.kept_score, [self.kept[i] for i in range(self.kept_count)], self.kept_depth)

    def report_bound(self, score: int, is_upper: bool) -> None:
        """Report that the root has failed low or high."""
        if self.on_bound is not None:
            self.on_bound(score, is_upper)

    def _tick(self) -> None:
        if self.on_tick is not None:
            self.on_tick()

    def enter(self, ply: int) -> bool:
        """Count a node. Returns False if the search has to stop."""
        self.pv_ends[ply] = ply
        if self.stop.stopped:
            return False
        if self.node_limit != 0 and self.nodes >= self.node_limit and not self.take_nodes():
            return False
        self.nodes += 1
        if self.nodes & self.clock_mask == 0:
            self.check_time()
        if ply > self.seldepth:
            self.seldepth = ply
        return True

    def is_drawn(self, in_check: bool, ply: int, sp: int) -> bool:
        """Whether the position is drawn by repetition, insufficient material or the fifty-move rule. The
        stack is used from index `sp` on.

        One repetition of a position after the root is enough: whoever repeats it can do so again. One that
        occurred in the game or at the root counts at its third occurrence, as in the rules: the other side
        may still have played something better there.
        """
        if self.board.is_repetition(2, ply) or self.board.is_insufficient_material():
            return True
        # Checkmate takes precedence over the fifty-move rule.
        return self.board.halfmove >= 100 and not (in_check and generate(self.board, self.stack, sp) == sp)

    def make(self, move: int, ply: int) -> None:
        """Make a move on the board and update the evaluation and history."""
        side = self.board.side
        if cython.compiled:
            self.table.prefetch(self.board.key_after(move) ^ self.salt)
        self.evaluation.make(self.board, move)
        self.board.make_unchecked(move)
        self.keys.make(move, side)
        self.history.record_move(ply, side, move)
        top = ply + BEFORE_ROOT
        self.corrections.prefetch(
            self.keys.pieces(WHITE) & 0x3FFF,
            self.keys.pieces(BLACK) & 0x3FFF,
            self.keys.minors() & 0x3FFF,
            self.history.moved[top],
            self.history.moved[top - 1],
        )

    def unmake(self) -> None:
        """Unmake the last move."""
        self.board.unmake_unchecked()
        self.evaluation.unmake()
        self.keys.unmake()

    def make_null(self, ply: int) -> None:
        """Make a null move."""
        self.board.make_null_unchecked()
        self.table.prefetch(self.key())
        self.keys.make_null()
        self.history.record_null_move(ply)

    def unmake_null(self) -> None:
        """Unmake a null move."""
        self.board.unmake_null()
        self.keys.unmake()

    def probe_tablebases(self, depth: int, ply: int, sp: int) -> int:
        """The score by the tablebases, NO_SCORE if they must not be probed or lack the position."""
        if not self.probing.can_probe(self.board, depth):
            return NO_SCORE
        score = self.probing.score(self.board, self.stack, sp, ply)
        if score != NO_SCORE:
            self.tb_hits += 1
        return score

    def corrected(self, value: int, ply: int) -> int:
        """A static evaluation of the position at a ply, adjusted by correction history."""
        side = self.board.side
        pawns = self.corrections.by_pawns(side, self.keys.pawns() & 0x3FFF)
        pieces = self.corrections.by_pieces(
            side, self.keys.pieces(WHITE) & 0x3FFF, self.keys.pieces(BLACK) & 0x3FFF
        )
        minors = self.corrections.by_minors(side, self.keys.minors() & 0x3FFF)
        top = ply + BEFORE_ROOT
        moves = self.corrections.by_moves(self.history.moved[top - 1], self.history.moved[top - 2])
        error = pawns * self.parameters.correct_pawns
        error += pieces * self.parameters.correct_pieces + minors * self.parameters.correct_minors
        error += moves * self.parameters.correct_moves
        return value + (error >> 14)

    def damped(self, value: int) -> int:
        """A static evaluation, smaller the longer nothing has been captured and no pawn has moved: a lead
        without progress is a fortress.
        """
        return value * (256 - min(self.board.halfmove, 100)) >> 8

    def update_corrections(self, error: int, depth: int, ply: int) -> None:
        """Update correction history by an error: search score minus static evaluation, in centipawns."""
        maximum = self.parameters.correction_max
        top = ply + BEFORE_ROOT
        self.corrections.update(
            self.board.side,
            self.keys.pawns() & 0x3FFF,
            self.keys.pieces(WHITE) & 0x3FFF,
            self.keys.pieces(BLACK) & 0x3FFF,
            self.keys.minors() & 0x3FFF,
            self.history.moved[top - 1],
            self.history.moved[top - 2],
            max(-maximum, min(error * depth * self.parameters.correction_step, maximum)),
        )

    def update_pv(self, ply: int, move: int) -> None:
        """Set the principal variation of a ply to a move followed by that of the next ply."""
        row = ply * MAX_PLY
        self.pv[row + ply] = move
        end = self.pv_ends[ply + 1]
        for i in range(ply + 1, end):
            self.pv[row + i] = self.pv[row + MAX_PLY + i]
        self.pv_ends[ply] = end

    def principal_variation(self) -> list[int]:
        """The principal variation from the root, as packed moves."""
        return [self.pv[i] for i in range(self.pv_ends[0])]
