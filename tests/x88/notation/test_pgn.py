"""PGN: good files are read as python-chess reads them, damage becomes a fault of its game alone, and written
games are read back.
"""

import gc
import io
import itertools
import json
import logging
import re
import time
import tracemalloc
from pathlib import Path
from random import Random

import chess
import chess.pgn
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle import STARTS, packed, scaled, shared_files
from tests.strategies import GAMES, damaged, per_hundred
from x88.notation import coordinate, fen, pgn

logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)


# --- The two readers


def read(data: str | bytes) -> list[pgn.Game]:
    return list(pgn.Reader(io.BytesIO(data.encode() if isinstance(data, str) else data)))


def read_one(data: str | bytes) -> pgn.Game:
    (game,) = read(data)
    return game


def read_by_python_chess(text: str, count: int | None = None) -> list[chess.pgn.Game]:
    stream = io.StringIO(text)
    games = iter(lambda: chess.pgn.read_game(stream), None)
    return [game for game in itertools.islice(games, count) if game is not None]


def sans(line: pgn.Variation) -> list[str]:
    return [move.san for move in line.moves]


def words(comment: str) -> str:
    """A comment with one space between words; where its lines ended does not matter."""
    return " ".join(comment.split())


def movetext(game: chess.pgn.Game) -> str:
    """Moves, NAGs, comments and variations as python-chess writes them, whatever the space between words."""
    return words(game.accept(chess.pgn.StringExporter(headers=False)))


def check_equal(ours: pgn.Game, theirs: chess.pgn.Game) -> None:
    """The game has no fault, and what we write of it equals what python-chess has read."""
    assert ours.faults == theirs.errors == []
    assert ours.start == theirs.board().fen()
    check_playable(ours, theirs.board())
    (again,) = read_by_python_chess(pgn.write(ours))
    assert again.errors == []
    set_up = {"SetUp": "1"} if "FEN" in theirs.headers else {}
    assert dict(again.headers) == dict(theirs.headers) | set_up
    assert movetext(again) == movetext(theirs)


def check_playable(line: pgn.Variation, position: chess.Board) -> None:
    """Every move of a line is legal, and its FEN is that of python-chess."""
    for move in line.moves:
        for variation in move.variations:
            check_playable(variation, position.copy(stack=False))
        theirs = chess.Move.from_uci(coordinate.write(move.move))
        assert position.is_legal(theirs) or not theirs
        assert move.san == position.san(theirs)
        position.push(theirs)
        assert move.fen == position.fen()


# --- An annotated sample

SAMPLE = r"""% this line is for another program
[Event "Caf\u00e9 \"Zum L\u00e4ufer\" \\ back room"]
[Site "M\u00fcnchen GER"]
[Date "2024.02.30"]
[Round "3.1"]
[White "\u00d8rsted, J\u00f8rgen"]
[Black "N.N."]
[Result "1-0"]
[ECO "C50"]
% so is this one, [Event "no"]
[Annotator ""]

{ Before the first move, } { in two
comments. } 1.e4 {best by test} e5 $1 $14 2.Nf3! (2. f4 {the King's
Gambit} exf4 (2... d5 {Falkbeer} 3. exd5 (3. Nf3) e4) (2... Bc5!? 3. Nf3
(3. fxe5?? Qh4+ {and mates} 4. g3 (4. Ke2 Qxe4#) 4... Qxe4+) d6) 3. Nf3) ({at the start
of a variation} 2. Bc4 $3 {bishop} Nf6 ({nested start} 2... Bc5 3. Qh5?! g6?? 4. Qxe5+) 3. d3)
2...Nc6 ; a comment to the end of the line, 3. Bb4 (
3. Bb5 (
%  e4 e5 (((
3. Bc4 Bc5 {(brackets) [%clk 0:01:00] $5 1-0 * ; in a comment} 4. O-O $146 (4. 0-0 Nf6)
d6 5. -- {passes} Nf6 6. Z0 6... -- (6... O-O) 7. d3 O-O) (3. d4 exd4) {after the variations}
a6 4. Ba4 $10
$11 Nf6 5 . O-O Be7 6. Re1 b5 7. Bb3 O-O 8. c3 d5 {Marshall} 9. exd5 Nxd5 10. Nxe5
;another
Nxe5 11. Rxe5 c6!! 12. d4!? Bd6?! 13. Re1? Qh4?? 14. g3 Qh3
15. Be3 {}{ two } {in
a row}
1-0

[Event "From a position"]
[Result "*"]
[SetUp "1"]
[FEN "4k3/P7/8/8/4Pp2/8/7p/4K3 b - e3 7 40"]

40... fxe3 {e.p.} 41. a8Q+ (41. a8N h1R+ 42. Ke2) (41. a8=R+ Kd7 $2) 41... Kd7 42 Qd5+ Ke7 *

1. d4 d5 {no tags, numbers missing from here} c4 e6 Nc3 (Nf3 Nf6 (c5) g3) Nf6 Bg5 1/2-1/2

[Event "No moves"]
[Result "0-1"]

0-1
"""
SAMPLE = re.sub(r"\\u(....)", lambda found: chr(int(found[1], 16)), SAMPLE)

FOR_PYTHON_CHESS = re.sub(
    r"^;(.*)$|(?<=\w) ;(.*)$", r"{\1\2}", SAMPLE.replace("%  e4 e5 (((\n", ""), flags=re.MULTILINE
)
"""The sample without what python-chess drops (comments that begin with a semicolon) or trips over."""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "latin-1", "utf-16-le", "utf-16-be"])
def test_an_annotated_file_is_read_as_python_chess_reads_it(codec: str, end: str) -> None:
    mark = "\ufeff" if "16" in codec else ""
    games = read((mark + SAMPLE.replace("\n", end)).encode(codec))
    theirs = read_by_python_chess(FOR_PYTHON_CHESS)
    assert len(games) == len(theirs) == 4
    for ours, other in zip(games, theirs, strict=True):
        check_equal(ours, other)
    assert [game.number for game in games] == [1, 2, 3, 4]
    first_lines = [SAMPLE.index(text) for text in ("[Event", '[Event "From', "1. d4 d5", '[Event "No m')]
    assert [game.line for game in games] == [SAMPLE.count("\n", 0, i) + 1 for i in first_lines]
    check_written(games)


def check_written(games: list[pgn.Game]) -> None:
    """Both readers get back the games that we write, in short lines."""
    text = "".join(map(pgn.write, games))
    again = read(text)
    assert "".join(map(pgn.write, again)) == text
    for ours, game, theirs in zip(again, games, read_by_python_chess(text), strict=True):
        assert ours.as_dict() == game.as_dict() | {"tags": ours.tags}
        assert ours.tags.items() >= {**game.tags, "Result": game.result}.items()
        check_equal(ours, theirs)
    assert all(len(line) < 80 or line.startswith("[") for line in text.splitlines())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\ufeff"])
@pytest.mark.parametrize("between", ["", "\n", "\n\n", "\n\n\n", "\n{mark}\n", "\n\n{mark}\n\n"])
@pytest.mark.parametrize(
    "head", ['[Event "b"]\n[Site "s"]\n', '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n', ""]
)
def test_joined_files_keep_their_games(head: str, between: str, mark: str, end: str) -> None:
    first = '[Event "a"]\n\n{x} 1. e4 1-0'
    second = f"{head}\n1. e3 0-1\n" if head else "1. e3 0-1\n"
    text = f"{mark}{first}{between.replace('{mark}', mark)}{mark}{second}\n\n{mark}{first}"
    games = read(text.replace("\n", end))
    expected = [game.as_dict() for part in (first, second, first) for game in read(part)]
    assert [game.as_dict() for game in games] == expected
    assert len(expected) == 3
    at = [text.index(mark + second), text.rindex(mark)]
    assert [game.line for game in games] == [1, *(text.count("\n", 0, i) + 1 for i in at)]


@pytest.mark.parametrize(
    "head",
    [
        *('[Event "a"];remark\n[Site "b"]\n', '[Event "a"]{remark}\n[Site "b"]\n'),
        *('[Event "a"]\n{\nremark\n}\n[Site "b"]\n', '[Event "a"] {remark\n}[Site "b"]\n'),
        *('[Event "a"]\n{remark} [Site "b"]\n', '[Event "a"] {re} {mark} ;\n[Site "b"] ;\n'),
        '; re\n\n[Event "a"]\n; mark\n% not this\n[Site "b"]\n',
        *('[Event "a"]\n{}{}\n{remark}\n\n[Site "b"]{}\n', '[Event"a"]\n%{\n;remark\n[Site"b"]\n'),
        '[ Event "a" ]\n{remark}\n[Site  "b"  ]\n',
    ],
)
def test_a_remark_between_tags_leaves_one_game(head: str) -> None:
    game = read_before_next(f'{head}[White "{{"]\n\n1. e4 {{x}} e5 1-0\n\n')
    assert game.tags == {"Event": "a", "Site": "b", "White": "{"}
    assert game.comment.replace(" ", "") == "remark"
    assert (sans(game), game.result, game.faults) == (["e4", "e5"], "1-0", [])


def test_a_comment_may_stand_for_the_moves_or_follow_the_result() -> None:
    for comment in ("{why\nnot}\n\n", "{why not}\n", "\n{why not}\n\n"):
        game = read_before_next(f'[Event "a"]\n[Result "0-1"]\n{comment}')
        assert game.tags == {"Event": "a", "Result": "0-1"}
        assert (game.comment, game.moves, game.result) == ("why not", [], "0-1")
    for comment in ("{ why }", "; why", "{ w }{\nh } ; y"):
        games = read(f'[Event "x"]\n\n1. e4 e5 1-0 {comment}\n\n[Event "y"]\n\n1. d4 * {comment}\n')
        assert [game.moves[-1].comment.replace(" ", "") for game in games] == ["why", "why"]
        assert [game.result for game in games] == ["1-0", "*"]
        assert [game.faults for game in games] == [[], []]


MARKS = """
e4! 1 | e4? 2 | e4!! 3 | e4?? 4 | e4!? 5 | e4?! 6 | e4 !? $14 5 14 | e4 $14$36 14 36 | e4 +/- 16 | e4 = 10
e4 N 146 | e4!!! | e4 ‼ ± 3 16 | e4‼ 3 | e4⁇ 4 | e4⁉ 5 | e4⁈ 6 | e4 □ 7 | e4 ∞ 13 | e4⩲ 14 | e4 ⩱ 15 | e4± 16
e4∓ 17 | e4 +− 18 | e4+- 18 | e4 –+ 19 | e4 ⨀ 23 | e4 ○ 26 | e4 ⟳ 32 | e4 ↑ 36 | e4 → 40 | e4 =/∞ 44
e4 ⇆ 132 | e4 ⊕ 138 | e4 ∆ 140 | e4 ∇ 141 | e4 ⌓ 142 | e4!±→ 1 16 40 | e4 !!$5 3 5
e4 e5 ↑ 37 | e4 e5 → 41 | e4 e5 ⇄ 133 | e4 e5 ⊙ 22 | e4 e5 ± 16 | e4 e5 ∓ 17
"""
"""A mark or glyph behind a move and its NAGs, some of which depend on the side that has moved."""


@pytest.mark.parametrize("row", re.split(r"[\n|]", MARKS.strip()))
def test_marks_and_symbols_are_nags(row: str) -> None:
    text, nags = re.fullmatch(r"(.+?)((?: \d+)*)", row.strip()).groups()
    game = read_one(f"1. {text} *")
    assert (game.faults, game.moves[-1].nags) == ([], [int(nag) for nag in nags.split()])


@pytest.mark.parametrize(
    "text",
    [
        *("1.d4 d5!!2.c4 e6 *", "1.d4!d5!?2.c4??e6?!3.Nc3!!*", "1.f3 e5 2.g4 Qh4#!!0-1"),
        *("1.e4 e5 2.Qh5 Nc6 3.Bc4 Nf6 4.Qxf7#1-0", "1.e4 d52.exd5 Qxd53.Nc3 Qa54.d4*"),
        "1.e4 e5 2.Nf3 Nc6 3.Bc4 Bc5 4.O-O Nf6 5.d3 O-O6.c3 d6 1/2-1/2",
        "1.e4 e5 2.Nf3 Nc6 3.Bc4 Bc5 4.0-0!Nf6 5.d3 0-0!6.c3 d6 1/2-1/2",
        "1.d4 d5 2.Bf4 Bf5 3.Nc3 Nc6 4.Qd2 Qd7 5.O-O-O5...O-O-O6.f3 *",
        "1.e4 d5 2.e5 f5 3.exf6 exf6 4.Bb5+4...c6 *",
        "1.a4 b5 2.axb5 a6 3.bxa6 c5 4.a7 c4 5.axb8=Q5...d6 6.Qxa8!d5 *",
    ],
)
def test_tokens_need_no_spaces_between_them(text: str) -> None:
    check_equal(read_one(text), *read_by_python_chess(text))


@pytest.mark.parametrize("word", ["--", "Z0", "0000", "@@@@", "<>"])
@pytest.mark.parametrize(
    "text",
    [
        "1. e4 (1. {} d5) e5 *",
        "1. e4 (1. d4 {} 2. c4 {}) e5 *",
        "1. e4 (1. d4 d5 (1... {} 2. c4 {}) 2. c4) 1... e5 (1... {}) 2. Nf3 *",
        "1. {} e5 2. Nf3 {} (2... Nc6 3. {}) 3. d4 1-0",
        "1. a4 e5 2. Ra3 Nc6 (2... {} 3. b3) 3. Rb3 *",
    ],
)
def test_a_null_move_is_read_as_python_chess_reads_it(text: str, word: str) -> None:
    game = read_one(text.replace("{}", word))
    check_equal(game, *read_by_python_chess(text.replace("{}", "--" if word == "<>" else word)))
    check_written([game])


RESULTS = {
    "1-0": ("1-0", "1–0", "1−0", "1:0", "1 - 0", "1-0."),
    "0-1": ("0-1", "0–1", "0—1", "0:1"),
    "1/2-1/2": ("1/2-1/2", "1/2", "1/2–1/2", "½-½", "½–½", "½", "½:½", "0.5-0.5", "0,5:0,5", "1/2 – 1/2"),
    "*": ("*", ""),
}


@pytest.mark.parametrize(
    ("result", "text"), [(result, text) for result in RESULTS for text in RESULTS[result]]
)
def test_the_result_behind_the_moves_comes_before_that_of_the_tags(text: str, result: str) -> None:
    game = read_one(f"1. e4 e5 {text}\n")
    assert (game.result, sans(game), game.faults) == (result, ["e4", "e5"], [])
    claimed = read_one(f'[Result "0-1"]\n\n1. e4 e5 {text}\n')
    assert claimed.result == (result if result != "*" else "0-1")
    # The same where the moves cannot be followed, after a variation, and in the tag.
    assert read_before_next(f"1. x e4 (e5) {text}\n\n").result == result
    assert read_one(f'[Result "{text}"]\n\n1. e4').result == result


def test_tags_alone_are_a_game_and_blanks_are_none() -> None:
    first, second = read('[Event "a"]\n[Result "1-0"]\n\n\n[Event "b"]')
    assert (first.tags, first.result) == ({"Event": "a", "Result": "1-0"}, "1-0")
    assert (second.tags, second.result) == ({"Event": "b"}, "*")
    assert first.moves == first.faults == second.moves == second.faults == []
    for blank in ("", "\n", "\r\n\r\n \t\n", "\ufeff", "% nothing\n", "; nothing\n", "\x1a"):
        assert read(blank) == []
    assert read(b"\xff\xfe") == read(b"\xfe\xff") == []


# --- Habits of other programs and people


ITALIAN = "1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5"
LONG = "1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7"
CASTLED = "e4 e5 Nf3 Nf6 Bc4 Bc5 O-O O-O d3"
PROMOTING = '[FEN "7k/4P3/8/8/8/8/8/K7 w - - 0 1"]\n\n'
SWAPPED = '[FEN "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1"]\n'


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        # Castling in bare zeros, or letters, also Cyrillic ones.
        (f"{ITALIAN} 4. 00 00 5. d3", CASTLED),
        (f"{ITALIAN} 4. 00! 00+ 5. d3", CASTLED),
        (f"{ITALIAN} 4. OO oo 5. d3", CASTLED),
        (f"{ITALIAN} 4. О-О 0–0 5. d3", CASTLED),
        (f"{LONG} 5. 000 000 6. e3", "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O O-O-O e3"),
        # The numbers of ICCF.
        ("1. 5254 5755 2. 7163 2836", "e4 e5 Nf3 Nc6"),
        ("1. 5254! 5755?! 2.7163 (2. 6264)", "e4 e5 Nf3"),
        ("1. 52-54 57-55", "e4 e5"),
        ("1. e4 e5 (1... c5 2) 2. Nf3", "e4 e5 Nf3"),
        ("1 5254 5755 2 7163 7866 3 6134 6824 4 5171 5878", "e4 e5 Nf3 Nf6 Bc4 Bb4 O-O O-O"),
        (f"{PROMOTING} 1. 57581+", "e8=Q+"),
        (f"{PROMOTING} 1. 57584", "e8=N"),
        # Numbers of moves.
        ("1) e4 e5 2) Nf3 (2. f4) Nc6", "e4 e5 Nf3 Nc6"),
        ("1: e4 e5 2:Nf3", "e4 e5 Nf3"),
        ("1- e4 e5 2-Nf3 Nc6 3, Bc4", "e4 e5 Nf3 Nc6 Bc4"),
        ("01. e4 e5 02. Nf3", "e4 e5 Nf3"),
        ("1 e4 e5 2Nf3 2 . ... Nc6 3", "e4 e5 Nf3 Nc6"),
        ('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - - -"]\n\n34 e4 Kd7 35 Kd2', "e4 Kd7 Kd2"),
        # White space and marks of Unicode.
        ("1.\u00a0 e4\u00a0 e5 2.\u00a0 Nf3\u00a0 Nc6", "e4 e5 Nf3 Nc6"),
        ("1.\u2009e4\u202fe5 2.\u2003Nf\u200b3 Nc6\u200e 3. Bb5\u2060 a6\u00ad", "e4 e5 Nf3 Nc6 Bb5 a6"),
        ("\u200e1\u200b. \u200fe4! \u202ae5\u202c\u30002. Nf3\ufeff Nc6", "e4 e5 Nf3 Nc6"),
        # Tokens without spaces, figurines, remarks, reserved text.
        *((f"1.{text}", "e4 e5") for text in ("e4±e5", "e4!e5", "e4=1...e5", "e4.e5", "e4 1…e5", "e4+−1…e5")),
        ("1. ♘f3 ♞f6 2. g2–g3 g6 3. ♗g2 ♝g7 4. 0–0 O–O 5. d4", "Nf3 Nf6 g3 g6 Bg2 Bg7 O-O O-O d4"),
        *((f"1. e4 e6 {mark} 2. e5", "e4 e6 e5") for mark in ("e.p.", "ep", "+", "#", "ch", "mate", "<a b>")),
        ("<1. d4 d5> 1. e4 <two words>e5<.>", "e4 e5"),
        # Null moves, captures, en passant, promotion, check.
        ("1. e4 -- 2. d4 Z0 3. <> e5", "e4 -- d4 -- -- e5"),
        ("1. e4 d5 2. e×d5 Qхd5", "e4 d5 exd5 Qxd5"),
        ("1. e4 e6 2. e5 d5 3. exd6(ep) Bxd6", "e4 e6 e5 d5 exd6 Bxd6"),
        ("1. e4 e6 2. e5 d5 3. ed6 (e.p.) Bxd6 (+)", "e4 e6 e5 d5 exd6 Bxd6"),
    ],
)
def test_other_spellings_of_moves_and_numbers_are_read(text: str, moves: str) -> None:
    for end in ("*", "", "1-0"):
        game = read_one(f"{text} {end}")
        assert (" ".join(sans(game)), game.faults) == (moves, [])
        assert game.result == (end or "*")


@pytest.mark.parametrize(
    ("text", "result", "moves"),
    [
        ('[Result "0-0"]\n\n1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 0-0', "0-0", 6),
        ('[Result "0-0"]\n\n1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. 0-0 0–0 0:0 {both}', "0-0", 8),
        ('[Result "0-0"]\n\n1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. 0-0 0-0 5. d3', "0-0", 9),
        ('[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. 0-0', "1-0", 7),
        ("1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. 0-0", "*", 7),
        ("1. e4 e5 0-0", "0-0", 2),
        ('[Result "0-0"]\n\n1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0-0 {[%x]} 0-0 {[%y]} 0-0', "0-0", 8),
    ],
)
def test_zeros_at_the_end_are_a_double_forfeit_or_castling(text: str, result: str, moves: int) -> None:
    game = read_before_next(f"{text}\n\n")
    assert (game.result, len(game.moves), game.faults) == (result, moves, [])
    assert read_one(pgn.write(game)).result == result


def test_a_first_move_after_an_empty_line_begins_the_next_game() -> None:
    text = "1. e4 e5\n\n2. Nf3 (2. f4\n\n2... d5) 2... Nc6 {\n\n1. c4}\n\n1. d4\n\n1... d5\n\n  1. a3 a6\n"
    assert [sans(game) for game in read(text)] == [["e4", "e5", "Nf3", "Nc6"], ["d4", "d5"], ["a3", "a6"]]
    assert not any(game.faults for game in read(text))
    assert [game.line for game in read(text)] == [1, 9, 13]


@pytest.mark.parametrize("end", ["*", "1-0", "1/2", "½-½", "0.5-0.5", "* {x}", "*\ufeff", "*\u00a0 ", ""])
@pytest.mark.parametrize("head", ['[White "C"]', '[White "C"] {x}', '[Round "1"] [White "C"]'])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_tags_behind_a_result_begin_the_next_game(end: str, head: str, blank: str) -> None:
    text = f'[Event "First"]\n\n1. e4 e5 {end}[Event "Second"]{head}\n[Result "0-1"]\n{blank}1. d4 d5 0-1\n\n'
    first, *_ = read(text)
    assert (first.tags, sans(first), first.faults) == ({"Event": "First"}, ["e4", "e5"], [])
    second = read_before_next(text)
    assert second.tags.items() >= {"Event": "Second", "White": "C", "Result": "0-1"}.items()
    assert (sans(second), second.result, second.faults, second.line) == (["d4", "d5"], "0-1", [], 3)
    assert second.number == 2


def test_a_file_indented_by_blanks_or_marks_is_read() -> None:
    lines = ['[Event "a"]', '[White "x"]', "", "1. e4 {x}", "1-0", "", '[Event "b"]', "", "1. d4 *"]
    plain = [game.as_dict() for game in read("\n".join(lines))]
    for margin in ("  ", "\t", "\u00a0", "\u200e", "\ufeff\ufeff"):
        assert [game.as_dict() for game in read("".join(f"{margin}{line}\n" for line in lines))] == plain


def test_a_variant_of_any_of_these_names_is_standard_chess() -> None:
    for variant in ("Classical", "Standard", "NORMAL", " from  position ", "chess", ""):
        game = read_one(f'[Variant "{variant}"]\n\n1. e4 e5 *')
        assert (sans(game), game.faults, game.tags) == (["e4", "e5"], [], {"Variant": variant})


def test_tags_and_moves_may_share_a_line() -> None:
    games = read('[Event "a"] [Result "1-0"] 1. e4 1-0\n[Event "b"] 1. d4 * 1. c4 * [Event "c"] *')
    assert [game.tags.get("Event") for game in games] == ["a", "b", None, "c"]
    assert [sans(game) for game in games] == [["e4"], ["d4"], ["c4"], []]
    assert [(game.number, game.line) for game in games] == [(1, 1), (2, 2), (3, 2), (4, 2)]
    assert not any(game.faults for game in games)
    games = read("1. e4 e5 1-0\n\n1. d4 0-1\n1. c4 1/2-1/2 1. Nf3 d5 *\n\n\n1. b3")
    assert [game.result for game in games] == ["1-0", "0-1", "1/2-1/2", "*", "*"]
    assert [(game.line, len(game.moves)) for game in games] == [(1, 2), (3, 1), (4, 1), (4, 2), (7, 1)]


@pytest.mark.parametrize("variant", ["", "FRC", "Fischer Random", " chess 960 ", "fischer-random"])
def test_castling_rights_off_the_home_squares_are_read_as_x_fen(variant: str) -> None:
    head = f'[Variant "{variant}"]\n' * bool(variant)
    game = read_one(f"{head}{SWAPPED}\n1. Nf3 Nf6 2. b3 b6 3. O-O O-O *")
    assert game.start in SWAPPED
    assert (sans(game), game.faults) == (["Nf3", "Nf6", "b3", "b6", "O-O", "O-O"], [])
    assert read_one(pgn.write(game)).as_dict()["moves"] == game.as_dict()["moves"]
    if not head:
        (theirs,) = read_by_python_chess(pgn.write(game))
        assert (theirs.errors, theirs.end().ply()) == ([], 6)
        # What X-FEN does not explain are rights of standard chess.
        start = "r3k2r/8/8/8/8/8/8/R2R2K1 w KQkq - 0 1"
        assert read_one(f'[FEN "{start}"]\n\n*').start == fen.write(fen.parse(start)) != start


def test_a_text_that_is_not_utf_8_is_windows_1252() -> None:
    text = '[White "“Ž”"]\n\n1.\u00a0e4\u00a0{‘x’ – 5 €…} e5…2.\u00a0Nf3± d5 3. Bb5† c6 4. Nxe5 d4 ½–½\n'
    text = text.replace("Nxe5 d4", "N×e5 d4\u00a0")
    assert read_one(text.encode("cp1252")).as_dict() == read_one(text).as_dict()
    game = read_one(text.encode("cp1252"))
    assert (game.tags, game.moves[0].comment) == ({"White": "“Ž”"}, "‘x’ – 5 €…")
    assert (sans(game), game.faults) == (["e4", "e5", "Nf3", "d5", "Bb5+", "c6", "Nxe5", "d4"], [])


EVENTS = "[Event „x“]", "[Event “x”]", '[Event: "x"]', '[Event\u00a0"x"]', '[\u200eEvent "x"\u200e]'


@pytest.mark.parametrize(
    ("tag", "name", "value"),
    [
        *((tag, "Event", "x") for tag in (*EVENTS, '[event "x"]', '[EVENT "x"]', '[ Event   "x" ]  ')),
        (r'[Source "D:\games\new.pgn"]', "Source", r"D:\games\new.pgn"),
        ('[Source "D:\\games\\"]', "Source", "D:\\games\\"),
        ('[White-Title "GM"]', "White-Title", "GM"),
        ('[A+b#c-1 "x"]', "A+b#c-1", "x"),
        (r'[Event "a \"b\" \\ c"]', "Event", r'a "b" \ c'),
        ('[Event "a "b" c"]', "Event", 'a "b" c'),
        ('[Event "{ ; % ( 1-0 ] 日本"]', "Event", "{ ; % ( 1-0 ] 日本"),
        ('[Setup "1"]', "SetUp", "1"),
    ],
)
def test_a_tag_pair_is_read_in_any_form(tag: str, name: str, value: str) -> None:
    for text in (f'{tag}\n[Site "s"]\n\n1. e4 e5 *\n\n', f'[Site "s"]\n{tag}\n\n1. e4 e5 *\n\n'):
        game = read_before_next(text)
        assert (game.tags, game.faults) == ({name: value, "Site": "s"}, [])
        assert read_one(pgn.write(game)).tags.items() >= game.tags.items()


# --- Real files


@pytest.mark.parametrize("path", [*shared_files("pgn/*.pgn"), *shared_files("books/8moves_v3.pgn")])
def test_a_tournament_or_a_book_is_read_as_python_chess_reads_it(path: Path) -> None:
    """Also games of Chess960, in fischerr19.pgn."""
    with open(path, encoding="utf-8-sig") as stream:
        text = stream.read(scaled(400_000, 40_000))
        text = text[: text.rindex("[Event ")] if stream.read(1) else text
    games = read(text)
    assert len(games) == text.count("[Event ")
    check_written([game for game in games[: scaled(80, 15)] if "Variant" not in game.tags])
    for ours, theirs in zip(games, read_by_python_chess(text, scaled(80, 15)), strict=False):
        if "Variant" not in ours.tags:
            check_equal(ours, theirs)
            continue
        assert (ours.tags, ours.start, ours.faults) == (dict(theirs.headers), theirs.board().fen(), [])
        fens = [node.board().fen(en_passant="legal") for node in theirs.mainline()]
        assert [move.fen for move in ours.moves] == fens
    assert not any(game.faults for game in games)
    starts = [line for line, row in enumerate(text.split("\n"), 1) if row.startswith("[Event ")]
    assert [game.line for game in games] == starts


@pytest.mark.parametrize(
    ("text", "moves", "games"),
    [
        ('[Result "1-0"]\n\n1. e4 e5 2. 0-0 {[%clk 1]} d6 3. d4 1-0', 2, 1),
        ("1. e4 0.5 e5 0.25 2. Nf3 1-0", 3, 1),
        ('1. e4 {text\n\n  [White "fake"]\nmore} e5 1-0', 2, 1),
        ('1. e4 e5 [Diagram "x"] 2. Nf3 Nc6 *', 4, 1),
        ('1. e4 e5 [Event "x"] 1. d4 *', 2, 2),
    ],
)
def test_zeros_fractions_and_tags_inside_a_game_do_not_end_it(text: str, moves: int, games: int) -> None:
    found = read(text)
    assert (len(found), len(found[0].moves)) == (games, moves)


@pytest.mark.parametrize("path", shared_files("malformed/*.pgn"))
def test_a_malformed_file_is_read_as_far_as_python_chess_can_follow(path: Path) -> None:
    data = path.read_bytes()
    games = read(data)
    assert games
    # python-chess wants an empty line between games, none before the moves, and tags on lines of their own.
    text = data.decode("latin-1").replace("}\n\n", "}\n").replace("\n[", "\n\n[")
    theirs = read_by_python_chess(re.sub(r"^(\[.*\]) (?=\w)", r"\1\n", text, flags=re.MULTILINE))
    assert len(games) == len(theirs)
    for ours, other in zip(games, theirs, strict=True):
        mainline = [move.uci() for move in other.mainline_moves()]
        texts = [coordinate.write(move.move) for move in ours.moves]
        assert texts == mainline[: len(texts)]
        assert ours.faults or texts == mainline
    check_order(games, data)
    check_fens(games, data)


def check_order(games: list[pgn.Game], data: bytes) -> None:
    """Games are numbered, and they and their faults are inside the file and in its order."""
    lines = data.count(b"\n") + 1
    assert [game.number for game in games] == list(range(1, len(games) + 1))
    starts = [game.line for game in games]
    assert starts == sorted(starts)
    for game, end in zip(games, [*starts, lines][1:], strict=True):
        assert all(game.line <= fault.line <= end for fault in game.faults)
        assert all(fault.text and "\n" not in fault.text for fault in game.faults)


def check_fens(games: list[pgn.Game], data: bytes) -> None:
    """The reader for FENs alone finds the same games and faults."""
    found: list[str] = []
    reader = pgn.FenReader(io.BytesIO(data), found.append)
    for game, other in zip(games, reader, strict=True):
        reader.flush()
        assert "".join(found) == "".join(f"{move.fen}\n" for move in game.moves)
        found.clear()
        assert {**vars(other), "moves": [], "comment": ""} == {**vars(game), "moves": [], "comment": ""}


def test_a_reader_of_fens_drops_those_its_writer_refused() -> None:
    pieces: list[str] = []

    def write(text: str) -> None:
        pieces.append(text)
        raise BrokenPipeError

    reader = pgn.FenReader(io.BytesIO(b"Nf3 Nf6 Ng1 Ng8 " * 300), write)
    for _ in range(5):
        with pytest.raises(BrokenPipeError):
            next(reader)
    assert len({*pieces}) == 1, "it begins the game again"


# --- Damage


NEXT = '[Event "next"]\n[Result "0-1"]\n\n1. d4 {x} d5 2. c4 (2. Nf3) 2... e6 0-1\n'


def read_before_next(data: str | bytes) -> pgn.Game:
    """The last game of a text. The game that follows is read whole."""
    data = data.encode() if isinstance(data, str) else data
    *games, game, following = read(data + NEXT.encode())
    assert (following.number, following.line) == (len(games) + 2, data.count(b"\n") + 1)
    assert following.as_dict() == read_one(NEXT).as_dict()
    assert (sans(following), following.faults) == (["d4", "d5", "c4", "e6"], [])
    return game


NO_WORDS = "Nf33 Nf3x Nf3Nc6 Nf3=Q Nf3e5 xNf3 Nf Nf3hello Nf3, 0 0:05 ed Q*d5 null Sf3 =20"
"""Neither moves, though some begin with one, nor results."""


def test_a_fault_in_the_tags_names_the_text_and_the_reason() -> None:
    for text, reason in (
        ('[Result "White wins"]\n1. e4', "'White wins' is not a result"),
        ('[White "a"]\n[White "b"]\n1. e4', "the tag White is given twice: 'a' is replaced"),
        ('[Variant "Crazyhouse"]\n1. e4', "Moff does not play the variant 'Crazyhouse'"),
    ):
        ((_, fault),) = read_one(text).faults
        assert reason in fault


@pytest.mark.parametrize(
    ("text", "moves", "faults"),
    [
        ("1. e4 e5\n2. Ke3 Nc6 3. Bc4 *", "e4 e5", [(4, "'Ke3' is not a legal move: no white king")]),
        ("1. Nf3 d5 2. d3 d4\n\n3. Nd2 *", "Nf3 d5 d3 d4", [(5, "'Nd2' is ambiguous: ")]),
        ("1. e4 e5 2. Nf3 hello 3. d4 *", "e4 e5 Nf3", [(3, "'hello' is not a move")]),
        *((f"1. e4 e5 {word} Nc6", "e4 e5", [(3, repr(word))]) for word in NO_WORDS.split()),
        *(
            (f"1. e4 e5 {word} Nf3", "e4 e5 Nf3", [(3, repr(word))])
            for word in ("52545755", "1-0ff", "1/2-0")
        ),
        ("1. e4 e5 7 Nf3 *", "e4 e5 Nf3", [(3, "'7' is neither a move nor a result nor the number of")]),
        ("1. e4 e5 2. 00 Nc6 *", "e4 e5", [(3, "'00' is not a legal move: White cannot castle")]),
        ("1. e4 e5 (1-0)", "e4 e5", [(3, "the result 1-0 stands in a variation")]),
        ("1. e4 d5 2. Bb5+ c6 (2... -- 3. Nf3) 3. Nf3 *", "e4 d5 Bb5+ c6 Nf3", [(3, "'--' is a null move")]),
        ("1. x ½x 1½x *", "", [(3, "'x' is not a move")]),
        ("1. e4 e5\n2. Nf3 <x\n> Nc6 *", "e4 e5 Nf3", [(4, "'<x' is not a move")]),
        ("1. e4 e5\n2. Nf3 < Nc6 {>} *", "e4 e5 Nf3", [(4, "'<' is not a move")]),
        ("1. e4 e5\n2. Nf3 } Nc6 *", "e4 e5 Nf3", [(4, "'}' is not a move")]),
        ("1. e4 e5 {a { b} c} 2. Nf3 *", "e4 e5", [(3, "'c' is not a move")]),
        ("1. e4 e5 2. Nf3 \0 Nc6 *", "e4 e5 Nf3 Nc6", []),
        ("1. e4 e5 2. Nf3 \x80\xff Nc6 *", "e4 e5 Nf3", [(3, "is not a move")]),
        ("1. e4 e5\n2. Nf3 { open\nNc6 1-0", "e4 e5 Nf3", [(4, "the comment is not closed")]),
        ("1. e4 e5 2. Nf3\n( 2. Nc3 Nc6\n3. Bc4 1-0", "e4 e5 Nf3", [(6, "a variation is not closed")]),
        ("1. e4 e5\n2. Nf3 ) Nc6 *", "e4 e5 Nf3 Nc6", [(4, "a closing parenthesis without an opening one")]),
        ("( 1. d4 ) 1. e4 e5 *", "e4 e5", [(3, "a variation before any move")]),
        ("1. e4 ( 1. d5 e5 (1. x) 2. x) e5\n( 1... e6 2. e5 ) 2. Nf3 *", "e4 e5 Nf3", [(3, "'d5' is not")]),
        ("1. e4 $ e5 $12345 2. Nf3 *", "e4 e5 Nf3", [(3, "$ without a number"), (3, "$ without a number")]),
        ("1. e4 e5 1/2-1/3", "e4 e5", [(3, "'1/2-1/3' is neither a move nor a result")]),
        ("1. e4 e5 2. Nf3 9999999999999999999999999. Nc6 *", "e4 e5 Nf3 Nc6", []),
        ("Nonsense from the start.\n\nAll of it.", "", [(3, "'Nonsense' is not a move")]),
    ],
)
def test_damage_stays_in_its_game(text: str, moves: str, faults: list[tuple[int, str]]) -> None:
    data = f'[Event "damaged"]\n\n{text}\n\n'
    game = read_before_next(data.encode("latin-1"))
    assert (game.number, game.line, game.tags) == (1, 1, {"Event": "damaged"})
    assert sans(game) == moves.split()
    assert [fault.line for fault in game.faults] == [line for line, _ in faults]
    for fault, (_, reason) in zip(game.faults, faults, strict=True):
        assert reason in fault.text


def test_a_bad_tag_pair_costs_no_other() -> None:
    bad = ('[Site "open', "[Site]", "[", "[]", '["x"]', "[Site x]", '[Site "x" "y]', "[Site 'x']")
    for tag in (*bad, '[Sité "x"]'):
        game = read_before_next(f'[Event "damaged"]\n{tag}\n[Round "3"]\n\n1. e4 e5 *\n\n')
        assert game.tags == {"Event": "damaged", "Round": "3"}
        assert sans(game) == ["e4", "e5"]
        assert game.faults == [(2, f'{tag!r} is not a tag pair, as in [Round "3"]')]


@pytest.mark.parametrize("position", ["", "nonsense", "8/8/8/8/8/8/8/8 w - - 0 1", fen.START + " 1 2", "\0"])
def test_a_bad_start_position_is_a_fault_and_its_moves_are_skipped(position: str) -> None:
    game = read_before_next(
        f'\n\n[Event "x"]\n[FEN "{position}"]\n[Result "1-0"]\n\n1. e4 {{x}} (1. d4 {{y}}) e5 ) $ 1-0\n\n'
    )
    assert (game.moves, game.comment, game.result) == ([], "", "1-0")
    assert game.faults[0].line == game.line == 3
    assert game.faults[0].text.startswith("bad FEN")


def test_a_comment_left_open_ends_at_tags_after_an_empty_line() -> None:
    game = read_before_next('[Event "x"]\n\n1. e4 { [%clk 1:00]\n[Event "in the comment"]\nand so on\n\n')
    assert (sans(game), [fault.line for fault in game.faults]) == (["e4"], [3])
    game = read_before_next('[Event "x"]\n{ open\n[Site "in the comment"]\n\n')
    assert (game.tags, [fault.line for fault in game.faults]) == ({"Event": "x"}, [2])


def test_a_file_cut_anywhere_keeps_what_is_before_the_cut() -> None:
    data = (EXPORTED + NEXT).encode()
    first, second = read(data)
    end = len(EXPORTED.rstrip().encode())
    for cut in range(len(data)):
        games = read(data[:cut])
        check_order(games, data[:cut])
        assert len(games) <= 2
        for ours, whole in zip(games, (first, second), strict=False):
            assert sans(ours) == sans(whole)[: len(ours.moves)]
        if cut >= end:
            assert games[0].as_dict() == first.as_dict()
        if cut >= end + 5:
            assert len(games) == 2


@pytest.mark.slow
def test_a_changed_byte_damages_its_game_or_the_next_alone() -> None:
    random = Random(5)
    data = f"{EXPORTED}{NEXT}\n{SAMPLE}".encode()
    whole = [game.as_dict() for game in read(data)]
    for _ in range(scaled(400, 100)):
        i = random.randrange(len(data))
        changed = data[:i] + bytes([random.randrange(256)]) * random.randrange(3) + data[i + 1 :]
        games = read(changed)
        check_order(games, changed)
        assert sum(game.as_dict() in whole for game in games) >= len(whole) - 2


PLAIN = """
e4 e5 Nf3 Nc6 d4 exd4 O-O -- 1. 2... $1 $ ! ?! = e.p. x { } {a} ( ) ; % * 1-0 0-1 1/2 0-0 00 5254
1:0 1) 7 <> (ep) × [ ] < > " \\
"""
TOKENS = [
    *PLAIN.split(),
    *("\n", "\n\n", "\r\n", " ", "\n%", "\n;", "\xa0", "\x85", "\xe2\x80\x8b", "\0", "\xff"),
    *("\n[Event ", '[Event "x"]\n', '\n[White "y"]\n', '[FEN "x"]'),
    *(f'\n[FEN "{start}"]\n' for start in STARTS[1:4]),
]


@pytest.mark.slow
@per_hundred(600, 150)
@example(b"\xef\xbb\xbf\xef\xbb\xbf1. e4")
@example(b"1. e4 () e5")
@given(
    st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from(TOKENS), max_size=60).map(lambda parts: "".join(parts).encode("latin-1")),
        st.lists(st.sampled_from(TOKENS), max_size=60).map(lambda parts: " ".join(parts).encode("latin-1")),
        damaged(GAMES).map(lambda text: text.encode("utf-8", "surrogatepass")),
    )
)
def test_any_bytes_give_games_that_can_be_played_and_written(data: bytes) -> None:
    games = read(data)
    check_order(games, data)
    check_fens(games, data)
    for game in games:
        assert game.result in pgn.RESULTS
        check_playable(game, chess.Board(game.start))
        if "FEN" in game.tags and not game.moves:
            continue
        again = read_one(pgn.write(game))
        assert again.faults == []
        assert sans(again) == sans(game)
        assert pgn.write(again) == pgn.write(game)
        assert (again.start, again.result) == (game.start, game.result)


def test_deep_nesting_is_a_fault() -> None:
    for text in ("(" * 10_000, "( e4 " * 10_000, "1. e4 " + "(1. d4 " * 10_000 + ")" * 10_000):
        game = read_before_next(f'[Event "deep"]\n\n{text} 1-0\n\n')
        assert game.faults
        assert len(sans(game)) <= 1
        json.dumps(game.as_dict())
        assert pgn.write(game)


SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")


def test_a_very_long_game_is_right_to_its_end_and_so_is_the_next() -> None:
    plies = 5002
    moves = [SHUFFLE[i % 4] for i in range(plies)]
    text = f"{' '.join(moves)} (2501... Nc6) (2501... -- 2502. Ng1) 2502. Ng1 Ng8 *\n\n"
    game = read_before_next(text)
    assert (sans(game), game.faults) == ([*moves, "Ng1", "Ng8"], [])
    check_playable(game, chess.Board())
    check_fens([game], text.encode())
    assert [sans(line) for line in game.moves[plies - 1].variations] == [["Nc6"], ["--", "Ng1"]]
    assert read_before_next(f"{text}{NEXT}\n{text}").as_dict() == game.as_dict()
    assert read_one(pgn.write(game)).as_dict()["moves"] == game.as_dict()["moves"]
    game = read_before_next(f"1. e4 (1. d4 d5 {' '.join(moves)}) e5 *\n\n")
    assert (sans(game), game.faults) == (["e4", "e5"], [])
    assert sans(game.moves[0].variations[0]) == ["d4", "d5", *moves]


def test_the_reader_yields_a_game_before_it_reads_the_next() -> None:
    # With tags, a game ends where the next one's tags begin; without, after an empty line.
    for head in ('[Event "x"]\n', ""):
        text = f"{head}\n1. e4\ne5 1-0\n\n"
        stream = io.BytesIO(text.encode() * 20)
        for number, game in enumerate(itertools.islice(pgn.Reader(stream), 19), 1):
            assert (sans(game), game.result, game.number) == (["e4", "e5"], "1-0", number)
            assert stream.tell() <= number * len(text) + len(head)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file() -> None:
    moves = "1. e4 {x} e5 2. Nf3 {x} (2. Nc3 Nf6) Nc6 {x} 1-0".replace("x", "lorem ipsum " * 90)
    game = f'[Event "x"]\n\n{moves}\n\n'.encode()
    number = scaled(4_000_000, 400_000) // len(game)
    reader = pgn.Reader(io.BytesIO(game * number))
    tracemalloc.start()
    try:
        few = sum(1 for _ in itertools.islice(reader, 20))
        first_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        rest = sum(1 for _ in reader)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert few + rest == number
    assert peak < first_peak + 50_000


# --- The writer

EXPORTED = r"""[Event "Caf\u00e9 \"x\" \\ y"]
[Site "?"]
[Date "????.??.??"]
[Round "?"]
[White "?"]
[Black "?"]
[Result "1-0"]
[Annotator "z"]
[ECO "C50"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40"]
[SetUp "1"]

{before the moves} 40... Kd7 $1 $14 41. e4 {so} 41... Kc6 {said} 42. e5 (42.
Kd2 Kc5 (42... Kb5 43. e5) 43. Ke3) ({start} 42. Ke2 -- {pass} 43. Kd3) 42...
Kd5 43. e6 Kxe6 1-0

""".replace(r"\u00e9", "é")


def test_a_game_in_export_format_is_written_as_it_was_read() -> None:
    game = read_one(EXPORTED)
    assert pgn.write(game) == EXPORTED
    check_equal(game, *read_by_python_chess(EXPORTED))


def test_tags_are_written_in_the_standard_s_order_and_read_back() -> None:
    game = pgn.Game({"Zoo": "z", "Black": "b", "ECO": "e", "Result": "0-1", "Event": "x", "Abc": "a"})
    game.result = "1-0"
    names = re.findall(r"^\[(\w+) ", pgn.write(game), flags=re.MULTILINE)
    assert names == ["Event", "Site", "Date", "Round", "White", "Black", "Result", "Abc", "ECO", "Zoo"]
    assert '[Result "1-0"]' in pgn.write(game)
    assert pgn.write(game).endswith("\n\n1-0\n\n")
    assert game.tags["Result"] == "0-1", "the game itself is left alone"
    assert pgn.write(pgn.Game()) == str(chess.pgn.Game()) + "\n\n"
    for value in ('"', "\\", '\\"', "\\\\", "a\\", "]", "{", "", " ", "é", '"]\n[Site "no"]', "\u2028"):
        game = read_one(pgn.write(pgn.Game({"White": value})))
        assert game.tags == {**pgn.ROSTER, "White": value.replace("\n", " ")}
        assert game.faults == []


@pytest.mark.parametrize(
    "comment",
    [
        *("a } b", "}", "{ a {{ b", "% x", "%" * 100, "; ( ) $1 1-0 *", "two\n\nlines \t"),
        *("[Event x]\n\n[Site y]", "x" * 300, "word " * 100, "%word " * 100),
    ],
)
def test_any_comment_is_read_back_but_for_its_braces(comment: str) -> None:
    game = read_one("1. e4 (1. d4 d5) e5 *")
    for owner in (game, *game.moves, game.moves[0].variations[0]):
        owner.comment = comment
    text = pgn.write(game)
    assert not re.search("^%", text, flags=re.MULTILINE)
    again = read_one(text)
    check_equal(again, *read_by_python_chess(text))
    found = [owner.comment for owner in (again, *again.moves, again.moves[0].variations[0])]
    assert found == [words(comment.replace("}", ""))] * 4
    assert sans(again) == ["e4", "e5"]


def test_lines_are_filled_to_79_characters() -> None:
    text = pgn.write(read_one(" ".join(SHUFFLE * 100) + " 1/2-1/2"))
    lines = text.split("\n\n")[1].splitlines()
    assert len(lines) > 10
    for line, following in itertools.pairwise(lines):
        assert len(line) < 80 <= len(line) + 1 + len(following.split()[0])
        assert line == line.strip()
    # Not every program puts a command together again.
    comments = [f"[%eval 0.31,14] [%clk 0:00:{n:02}]well played" for n in range(60)]
    moves = " ".join(f"{move} {{{text}}}" for move, text in zip(SHUFFLE * 15, comments, strict=True))
    text = pgn.write(read_one(f"{moves} *"))
    for line in text.split("\n\n")[1].splitlines():
        assert len(line) < 80
        assert line.count("[") == line.count("]")
    assert [move.comment for move in read_one(text).moves] == comments
    long = read_one(f"1. e4 {{[%x {'y ' * 100}]}} *")
    assert max(map(len, pgn.write(long).splitlines())) < 80, "but within a long one"


def test_a_recorded_game_has_the_san_and_the_fen_of_every_move() -> None:
    random = Random(6)
    for start in STARTS[::2]:
        board, moves = fen.parse(start), []
        while len(moves) < 60 and (legal := [*packed(board).values()]):
            moves.append(random.choice(legal))
            board.make(moves[-1])
        tags = {"White": "Moff"}
        game = pgn.record(tags, start, moves, "1/2-1/2")
        assert tags == {"White": "Moff"}
        assert [move.move for move in game.moves] == moves
        check_playable(game, chess.Board(start))
        check_written([game])


MANY = [
    *(
        "(d4) ",
        "{abcdefg} ",
        "$1 ",
        "(d4 {abcdefg}) ",
        ") ",
        ")\n",
        "( ",
        "<",
        "<x> ",
        "± ",
        "e4!",
        "½",
        "1…",
    ),
    *("+-", '{x}[White "y"]\n', "\ufeff", "\ufeff[", '\n\ufeff[White "y"]', "(ep)", "\u00a0", "0-0 "),
    *('*[White "y"]', '*[White "y"]\n', "1 ", "1 - ", "<>"),
]


@pytest.mark.slow
@pytest.mark.parametrize("many", MANY)
def test_reading_takes_time_in_proportion_to_the_text(many: str) -> None:
    def seconds(times: int) -> float:
        # The garbage collector's work depends on all other objects of this process.
        data = f"1. e4 {many * times} *".encode()
        gc.collect()
        gc.disable()
        try:
            started = time.process_time()
            read(data)
            return time.process_time() - started
        finally:
            gc.enable()

    seconds(100)
    times = scaled(1_000, 200)
    # Linear time grows by 32 with 32 times the text, quadratic time by 1,024. This is processor time, and a
    # disturbance must occur three times to matter.
    ratios = (seconds(32 * times) / max(1e-3, seconds(times)) for _ in range(3))
    assert any(ratio < 200 for ratio in ratios)


MANY += ["+-", '{x}[White "y"]\n', "\ufeff", "\ufeff[", '\n\ufeff[White "y"]', "(ep)", "\u00a0", "0-0 "]
MANY += ['*[White "y"]', '*[White "y"]\n', "1 ", "1 - ", "<>"]
