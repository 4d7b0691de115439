"""The main search: negamax alpha-beta with principal variation search, in numbered steps.

Sources: Donald E. Knuth and Ronald W. Moore, "An analysis of alpha-beta pruning", 1975; T. Anthony Marsland,
"Relative efficiency of alpha-beta implementations", 1983 (principal variation search); Chrilly Donninger,
"Null move and deep search", 1993; Ernst A. Heinz, "Extended futility pruning", 1998; Thomas Anantharaman,
Murray Campbell and Feng-hsiung Hsu, "Singular extensions", 1988; Michael Buro, "ProbCut: an effective
selective extension of the alpha-beta algorithm", 1995; Yngvi Björnsson and T. Anthony Marsland, "Multi-cut
pruning in alpha-beta search", 1999; Michael Chaly, "Introduce static history", Stockfish, 2020. Reducing
moves less where correction history disagrees with the static evaluation is also Stockfish's idea.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece

if not cython.compiled:
    from search.movepick import CAPTURES, KILLER, MAIN, TT_MOVE, next_move
    from search.quiescence import quiesce
    from search.score import (
        CERTAIN_WIN,
        DRAW,
        INFINITE,
        LONGEST_MATE,
        MATE,
        MAX_PLY,
        NO_SCORE,
        from_table,
        to_table,
    )
    from search.searcher import Searcher
    from search.transposition import (
        EXACT,
        LOWER,
        UPPER,
        bound_of,
        depth_of,
        move_of,
        score_of,
        short_move,
        static_of,
        was_pv,
    )
    from x88.attack import gives_check, last_move_checks, see_at_least
    from x88.board import Board
    from x88.move import CAPTURED, EN_PASSANT, NO_MOVE, PROMOTED, captured_of, origin_of, target_of
    from x88.movegen import MAX_MOVES
    from x88.piece import BLACK, PAWN, WHITE, WHITE_PIECE
    from x88.sets import count
    from x88.square import index64

    TABLEBASE_DEPTH = 6
    PROBCUT_REDUCTION = 4
    NULL_MOVE = -1

VALUE = piece.VALUE


def search(searcher: Searcher, alpha: int, beta: int, depth: int, ply: int, sp: int, cut_node: bool) -> int:
    """Search the position to a depth and return its fail-soft score. The root is ply 0, and the move stack is
    free from index `sp` on.

    `cut_node` marks an expected cut node. Discard the result if the search was stopped.
    """
    # 1. The horizon.
    if depth <= 0:
        return quiesce(searcher, alpha, beta, ply, sp, 0)
    if not searcher.enter(ply):
        return DRAW
    pv_node = beta - alpha > 1
    tt_pv = pv_node
    in_check = last_move_checks(searcher.board)
    nominal_depth = depth
    excluded = searcher.excluded[ply]
    side = searcher.board.side

    if ply:
        # 2. Draws by the rules: repetition, insufficient material, fifty moves.
        if searcher.is_drawn(in_check, ply, sp):
            return DRAW
        if ply >= MAX_PLY - 1:
            return DRAW if in_check else searcher.damped(searcher.evaluation.value(searcher.board))
        # 3. Mate distance pruning: no line from here can beat a shorter mate that is already found.
        alpha = max(alpha, ply - MATE)
        beta = min(beta, MATE - ply - 1)
        if alpha >= beta:
            return alpha

    # 4. Transposition table cutoff: not in PV nodes, where it would truncate the principal variation, and not
    # near the fifty-move rule, which the key does not include.
    tt_move = 0
    tt_score = NO_SCORE
    tt_depth = 0
    tt_bound = 0
    raw_eval = NO_SCORE
    data = searcher.table.probe(searcher.key())
    if data:
        tt_pv = tt_pv or was_pv(data)
    if data and not excluded:
        tt_move = move_of(data)
        tt_score = from_table(score_of(data), ply)
        tt_depth = depth_of(data)
        tt_bound = bound_of(data)
        raw_eval = static_of(data)
        if not pv_node and tt_depth >= depth and searcher.board.halfmove < 90:
            if (
                tt_bound == EXACT
                or (tt_bound == LOWER and tt_score >= beta)
                or (tt_bound == UPPER and tt_score <= alpha)
            ):
                return tt_score

    if ply == 0:
        # A move that failed high comes first in its re-search: it is the one to play if that is cut short.
        if searcher.failed_high:
            tt_move = short_move(searcher.kept[0])
        elif searcher.allowed_count:
            tt_move = short_move(searcher.allowed[0])

    # 5. Tablebases: a draw is exact; a win may still be a mate, and only PV nodes look for that.
    floor = -INFINITE
    ceiling = INFINITE
    if (
        searcher.board.count[WHITE] + searcher.board.count[BLACK] <= searcher.probing.most
        and ply
        and not excluded
    ):
        score = searcher.probe_tablebases(depth, ply, sp)
        if score != NO_SCORE:
            bound = LOWER if score >= CERTAIN_WIN else UPPER if score <= -CERTAIN_WIN else EXACT
            if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
                searcher.table.store(
                    searcher.key(),
                    tt_move,
                    to_table(score, ply),
                    raw_eval,
                    depth + TABLEBASE_DEPTH,
                    bound,
                    tt_pv,
                )
                return score
            if pv_node and bound == LOWER:
                floor = score
                alpha = max(alpha, score)
            elif pv_node:
                ceiling = score

    # 6. Static evaluation. The TT score replaces it as an estimate where its bound is tighter.
    if in_check:
        static_eval = corrected = raw_eval = estimate = NO_SCORE
        improving = False
    else:
        if excluded:
            corrected = searcher.static_evals[ply]
        else:
            if raw_eval == NO_SCORE:
                raw_eval = searcher.evaluation.value(searcher.board)
            corrected = searcher.corrected(raw_eval, ply)
        static_eval = estimate = searcher.damped(corrected)
        if tt_bound and abs(tt_score) < CERTAIN_WIN:
            if (
                tt_bound == EXACT
                or (tt_bound == LOWER and tt_score > static_eval)
                or (tt_bound == UPPER and tt_score < static_eval)
            ):
                estimate = tt_score
        improving = (
            ply < 2
            or searcher.static_evals[ply - 2] == NO_SCORE
            or corrected > searcher.static_evals[ply - 2]
        )
    correction = 0 if raw_eval == NO_SCORE else abs(corrected - raw_eval)
    # What the previous move has cost its side, if that is known.
    is_known = ply != 0 and not in_check and searcher.static_evals[ply - 1] != NO_SCORE
    lost = corrected + searcher.static_evals[ply - 1] if is_known else 0
    searcher.static_evals[ply] = corrected
    searcher.history.set_pawns(ply, searcher.keys.pawns())

    # 7. Evaluation history: the quiet move that led here gets a bonus or malus by how much it changed the
    # static evaluation, before its search tells what it is worth.
    if is_known and not excluded:
        move = searcher.board.last_move()
        if move != NO_MOVE and not move & (CAPTURED | PROMOTED):
            limit = searcher.parameters.eval_limit
            bonus = max(-limit, min(-lost, limit)) * searcher.parameters.eval_history
            searcher.history.update_squares(side ^ 1, move, ply - 1, bonus)

    # 8. Hindsight: the previous move was reduced a lot, yet its side is no worse off than before, so undo one
    # ply of that reduction. A reduced move that has lost something instead need not be refuted as deeply.
    if is_known and not excluded and searcher.reductions[ply - 1]:
        if lost <= 0 and searcher.reductions[ply - 1] >= searcher.parameters.hindsight:
            depth += 1
        elif depth >= 2 and lost > searcher.parameters.hindsight_reduction:
            depth -= 1

    # Steps 9 to 11 trust the static evaluation, which does not fall to a draw before the fifty-move rule.
    if (
        not pv_node
        and not in_check
        and not excluded
        and abs(beta) < CERTAIN_WIN
        and searcher.board.halfmove < 90
    ):
        # 9. Reverse futility pruning: near the horizon, a static evaluation this far above beta is expected
        # to hold, all the more if things are getting better.
        if depth <= searcher.parameters.reverse_futility_depth:
            margin = searcher.parameters.reverse_futility * depth
            if improving:
                margin -= searcher.parameters.reverse_futility_improving
            if lost > 0:
                margin -= searcher.parameters.reverse_futility_worsening
            if estimate - margin >= beta:
                return estimate

        # 10. Null move pruning: if passing still fails high, a real move will too. Skip it with king and
        # pawns only, where zugzwang is common; with a single piece, verify by a search without null moves,
        # from which steps 7 to 11 of this node are left out.
        if (
            depth >= searcher.parameters.null_depth
            and estimate >= beta
            and static_eval >= beta
            and searcher.board.last_move() != NO_MOVE
            and ply >= searcher.null_ply
            and non_pawn_count(searcher.board)
        ):
            reduction = searcher.parameters.null_reduction + searcher.parameters.null_slope * depth
            reduced_depth = depth - (reduction >> 8)
            searcher.reductions[ply] = 0
            searcher.make_null(ply)
            score = -search(searcher, -beta, 1 - beta, reduced_depth, ply + 1, sp, not cut_node)
            searcher.unmake_null()
            if searcher.stop.stopped:
                return DRAW
            if score >= beta:
                if score >= CERTAIN_WIN:
                    score = beta
                if reduced_depth <= 0 or searcher.null_ply or non_pawn_count(searcher.board) > 1:
                    return score
                searcher.null_ply = ply + (reduced_depth * 3 >> 2) + 1
                searcher.excluded[ply] = NULL_MOVE
                verification = search(searcher, beta - 1, beta, reduced_depth, ply, sp, False)
                searcher.excluded[ply] = 0
                searcher.null_ply = 0
                if searcher.stop.stopped:
                    return DRAW
                if verification >= beta:
                    return score

        # 11. ProbCut: if a capture beats beta by a margin in a shallower search, the node is expected to fail
        # high.
        probcut_beta = beta + searcher.parameters.probcut
        if depth >= searcher.parameters.probcut_depth and not (
            tt_bound and tt_depth >= depth - 3 and tt_score < probcut_beta
        ):
            searcher.picker.begin(searcher.board, 2 * ply, sp, tt_move, CAPTURES, True)
            i = sp - 1
            while (i := next_move(searcher.picker, searcher.board, 2 * ply, i + 1, 0)) >= 0:
                move = searcher.stack.moves[i]
                end = searcher.picker.ends[2 * ply]
                if not see_at_least(searcher.board, move, probcut_beta - static_eval):
                    continue
                searcher.make(move, ply)
                score = -quiesce(searcher, -probcut_beta, 1 - probcut_beta, ply + 1, end, 0)
                if score >= probcut_beta and not searcher.stop.stopped:
                    score = -search(
                        searcher,
                        -probcut_beta,
                        1 - probcut_beta,
                        depth - PROBCUT_REDUCTION,
                        ply + 1,
                        end,
                        not cut_node,
                    )
                searcher.unmake()
                if searcher.stop.stopped:
                    return DRAW
                if score >= probcut_beta:
                    searcher.table.store(
                        searcher.key(),
                        short_move(move),
                        to_table(score, ply),
                        raw_eval,
                        depth - PROBCUT_REDUCTION + 1,
                        LOWER,
                        tt_pv,
                    )
                    return score

    # 12. Internal iterative reduction: without a TT move, ordering is poor and a full-depth search is costly.
    if depth >= searcher.parameters.iir_depth and not tt_move and not excluded and (pv_node or cut_node):
        depth -= 1

    # 13. Move loop, best move first.
    slot = 2 * ply + (excluded != 0)
    searcher.picker.begin(searcher.board, slot, sp, tt_move, MAIN, ply != 0 and not in_check)
    # 14. Single evasion: a forced reply is searched a ply deeper, so a series of checks cannot push a loss
    # beyond the horizon. A singular extension may add to it.
    if in_check and searcher.picker.ends[slot] == sp + 1 and ply < searcher.extension_ply:
        depth += 1
    if ply == 0 and searcher.allowed_count:
        searcher.keep_allowed()
    lmp_limit = MAX_MOVES
    if ply and not in_check and depth <= searcher.parameters.lmp_depth:
        lmp_limit = searcher.parameters.lmp_base + (depth * depth * searcher.parameters.lmp_slope >> 6)
        if not improving:
            lmp_limit = lmp_limit * searcher.parameters.lmp_worse >> 8
    in_order = MAX_MOVES if searcher.seeks_mate else lmp_limit + (excluded != 0)
    best = floor
    best_move = 0
    old_alpha = alpha
    number = 0
    i = sp - 1
    while (i := next_move(searcher.picker, searcher.board, slot, i + 1, in_order - number)) >= 0:
        move = searcher.stack.moves[i]
        if move == excluded:
            continue
        number += 1
        quiet = not move & (CAPTURED | PROMOTED)
        pick_score = searcher.stack.scores[i]
        if not quiet:
            history = searcher.history.capture_score(side, move)
        elif pick_score < KILLER - 1:
            history = pick_score
        else:
            history = searcher.history.quiet_score(side, move, ply)
        base_reduction = searcher.parameters.reductions[min(depth, 63) << 6 | min(number, 63)]

        # 15. Pruning near the horizon: late move pruning, futility pruning, and static exchange evaluation.
        # Quiet checks are exempt, and at least one move has been searched without being mated. Full-width
        # search applies only to a mate search whose alpha is a mate score: in every search with such a
        # window, the tree would explode.
        full_width = searcher.seeks_mate and alpha >= LONGEST_MATE
        if ply and best > -CERTAIN_WIN and not full_width and not in_check:
            if quiet:
                reduced_depth = max(depth - (base_reduction >> 10), 0)
                see_margin = searcher.parameters.see_quiet * reduced_depth * reduced_depth
                see_margin += history * searcher.parameters.see_history >> 14
                futility_value = (
                    static_eval
                    + searcher.parameters.futility
                    + searcher.parameters.futility_step * reduced_depth
                    + (history * searcher.parameters.futility_history >> 14)
                )
                if (
                    number > lmp_limit
                    or history < -searcher.parameters.history_pruning * (reduced_depth + 1)
                    or (reduced_depth <= searcher.parameters.futility_depth and futility_value <= alpha)
                    or (
                        reduced_depth <= searcher.parameters.see_quiet_depth
                        and (see_margin < 0 or may_lose(move, searcher.history.attacked[ply]))
                        and not see_at_least(searcher.board, move, -see_margin)
                    )
                ) and not gives_check(searcher.board, move):
                    if reduced_depth <= searcher.parameters.futility_depth and futility_value <= alpha:
                        best = max(best, futility_value)
                    continue
            elif (
                pick_score < 0
                and depth <= searcher.parameters.see_capture_depth
                and not see_at_least(searcher.board, move, -searcher.parameters.see_capture * depth)
            ) or (
                not move & (PROMOTED | EN_PASSANT)
                and depth <= searcher.parameters.capture_futility_depth
                and static_eval
                + searcher.parameters.capture_futility * (depth + 1)
                + VALUE[captured_of(move)]
                + (history * searcher.parameters.capture_futility_history >> 14)
                <= alpha
                and not gives_check(searcher.board, move)
            ):
                continue

        # 16. Singular extension: extend the TT move if all other moves fail low against a bound below its
        # score. If they do not, and that bound is at least beta, more than one move fails high: cut the node
        # off (multi-cut). Otherwise, reduce the TT move if it is expected to fail high anyway. Not in a mate
        # search: no shallower search with an ordinary window can refute a mate.
        end = searcher.picker.ends[slot]
        extension = 0
        if (
            pick_score == TT_MOVE
            and 0 < ply < searcher.extension_ply
            and depth >= searcher.parameters.singular_depth
            and not excluded
            and tt_depth >= depth - 3
            and tt_bound & LOWER
            and abs(tt_score) < CERTAIN_WIN
            and not searcher.seeks_mate
        ):
            singular_beta = tt_score - (searcher.parameters.singular_margin * depth >> 6)
            searcher.excluded[ply] = move
            score = search(searcher, singular_beta - 1, singular_beta, (depth - 1) >> 1, ply, end, cut_node)
            searcher.excluded[ply] = 0
            if searcher.stop.stopped:
                return DRAW
            if score < singular_beta:
                extension = 1
                if not pv_node and score < singular_beta - searcher.parameters.double_margin:
                    extension = 2
                    if quiet and score < singular_beta - searcher.parameters.triple_margin:
                        extension = 3
            elif singular_beta >= beta:
                return min(singular_beta, ceiling)
            elif tt_score >= beta:
                extension = -2
            elif cut_node:
                extension = -1

        reducible = (
            depth >= 3
            and not full_width
            and number > searcher.parameters.lmr_first + pv_node
            and (quiet or pick_score < 0)
        )
        checks = reducible and not move & (EN_PASSANT | PROMOTED) and gives_check(searcher.board, move)
        if ply == 0:
            searcher.begin_root_move(move, number)
        elif ply == 1:
            searcher.begin_reply()
        searcher.make(move, ply)
        new_depth = depth - 1 + extension
        searcher.reductions[ply] = 0
        if number == 1:
            score = -search(searcher, -beta, -alpha, new_depth, ply + 1, end, not pv_node and not cut_node)
        else:
            # 17. Late move reduction: a reduced null-window search first, and a re-search if it fails high,
            # one ply deeper if it fails high by a wide margin, one ply less deep if by next to nothing.
            reduction = 0
            if reducible:
                reduction = base_reduction - (history * searcher.parameters.lmr_history >> 10)
                if cut_node:
                    reduction += searcher.parameters.lmr_cut
                if checks:
                    reduction -= searcher.parameters.lmr_check
                if not quiet:
                    reduction -= searcher.parameters.lmr_capture
                if not improving:
                    reduction += searcher.parameters.lmr_improving
                if pv_node:
                    reduction -= searcher.parameters.lmr_pv
                elif tt_pv:
                    reduction -= searcher.parameters.lmr_tt_pv
                reduction -= correction * searcher.parameters.lmr_correction
                reduction = max(0, min(reduction >> 10, new_depth))
            searcher.reductions[ply] = reduction
            score = -search(searcher, -alpha - 1, -alpha, new_depth - reduction, ply + 1, end, True)
            searcher.reductions[ply] = 0
            if reduction and score > alpha:
                if score > best + searcher.parameters.deeper + 2 * new_depth:
                    new_depth += 1
                elif score < best + searcher.parameters.shallower and reduction > 1:
                    new_depth -= 1
                score = -search(searcher, -alpha - 1, -alpha, new_depth, ply + 1, end, not cut_node)
            if alpha < score < beta:
                score = -search(searcher, -beta, -alpha, new_depth, ply + 1, end, False)
        searcher.unmake()
        if ply == 0:
            searcher.end_root_move(move)
        elif ply == 1:
            searcher.end_reply(move)
        if searcher.stop.stopped:
            return DRAW
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                if pv_node:
                    searcher.update_pv(ply, move)
                    if ply == 0:
                        searcher.root_score = score
                if score >= beta:
                    # 18. Beta cutoff: a bonus for this move, a malus for those before it, pruned or not.
                    update_histories(searcher, sp, i, ply, depth)
                    break
    if number == 0:  # the excluded move is the only legal one, or there is none
        return alpha if excluded else ply - MATE if in_check else DRAW
    best = min(best, ceiling)

    # 19. Fail low: every reply failed, so the quiet move that led here gets a history bonus.
    if best <= old_alpha and ply and not excluded:
        move = searcher.board.last_move()
        if move != NO_MOVE and not move & (CAPTURED | PROMOTED):
            bonus = min(depth * searcher.parameters.prior_bonus, searcher.parameters.bonus_max)
            searcher.history.update_quiet(side ^ 1, move, ply - 1, bonus)

    # 20. Correction history: learn the error of the static evaluation, unless a capture is best or the score
    # is a bound that the static evaluation already satisfies.
    if (
        not in_check
        and not excluded
        and not best_move & (CAPTURED | PROMOTED)
        and abs(best) < CERTAIN_WIN
        and not (best >= beta and best <= static_eval)
        and not (best <= old_alpha and best >= static_eval)
    ):
        searcher.update_corrections(best - static_eval, depth, ply)

    if not excluded and (ply or not searcher.allowed_count):
        bound = LOWER if best >= beta else EXACT if best > old_alpha else UPPER
        # Leave out the extensions: an entry that deep would cut off the next iteration.
        depth = min(depth, nominal_depth)
        searcher.table.store(
            searcher.key(), short_move(best_move), to_table(best, ply), raw_eval, depth, bound, tt_pv
        )
    return best


def may_lose(move: int, attacked: int) -> bool:
    """Whether a quiet move may lose material to an opponent that attacks these squares. It cannot if they
    include neither its origin nor its target, not even on a line that it opens.
    """
    origin = index64(origin_of(move))
    target = index64(target_of(move))
    return (attacked >> origin | attacked >> target) & 1 != 0


def non_pawn_count(board: Board) -> int:
    """The number of pieces of the side to move, without king and pawns."""
    return board.count[board.side] - 1 - count(board.sets[WHITE_PIECE << board.side | PAWN])


def update_histories(searcher: Searcher, sp: int, last: int, ply: int, depth: int) -> None:
    """Give a history bonus to the move at `last`, which failed high, and a malus to all moves before it,
    pruned ones included: for captures as large as the bonus; for quiet moves only if the move at `last` is
    quiet.
    """
    bonus = min(depth * searcher.parameters.bonus_step, searcher.parameters.bonus_max)
    malus = min(depth * searcher.parameters.malus_step, searcher.parameters.malus_max)
    side = searcher.board.side
    best = searcher.stack.moves[last]
    quiet = not best & (CAPTURED | PROMOTED)
    if quiet:
        searcher.history.add_killer(ply, best)
        searcher.history.update_quiet(side, best, ply, bonus)
    else:
        searcher.history.update_capture(side, best, bonus)
    for i in range(sp, last):
        move = searcher.stack.moves[i]
        if move & (CAPTURED | PROMOTED):
            searcher.history.update_capture(side, move, -bonus)
        elif quiet:
            searcher.history.update_quiet(side, move, ply, -malus)
