"""`moff.pgn` and python-chess's: the same files give the same trees, which are edited and written alike."""

import contextlib
import copy
import gc
import io
import logging
import os
import pickle
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.engine
import chess.pgn
import pytest

import moff
import moff.pgn
from moff.library.games import Game, GameNode
from moff.library.scores import Cp, Mate, PovScore
from tests.oracle import scaled, shared_files

logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)

E4 = moff.Move.from_uci("e2e4")
THREE = """[Event "A"]
[White "X"]

1. e4 {one} e5 2. Nf3 $1 (2. f4 exf4 (2... d5) 3. Nf3) 2... Nc6 1-0

[Event "B"]

1. d4 {two
lines} d5
[Event "C"]

1. c4 *
"""
"""Three games, the second without a result and without an empty line after it."""


class Lines:
    """An object that can do no more than read lines."""

    def __init__(self, stream: io.StringIO) -> None:
        self.readline = stream.readline

    def close(self) -> None: ...


def words(comment: str) -> str:
    """A comment with one space between words; where its lines ended does not matter."""
    return " ".join(comment.split())


def nodes(game: Any) -> Iterator[Any]:
    """All nodes of a tree, of either library, in an order that both share."""
    waiting = [game]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.variations)


def value(score: Any) -> Any:
    return score and (score.turn, score.white().score(), score.white().mate(), score.relative.score())


def of_node(node: Any) -> list[Any]:
    """What a node is, in values that both libraries share."""
    return [
        *(node.move and node.move.uci(), words(node.comment), words(node.starting_comment), {*node.nags}),
        *(len(node.variations), node.clock(), node.emt(), value(node.eval())),
        [(arrow.tail, arrow.head, arrow.color) for arrow in node.arrows()],
    ]


def place_of(node: Any) -> list[Any]:
    """Where a node is."""
    return [
        *(node.board().fen(), node.ply(), node.turn(), node.is_end(), node.is_mainline()),
        *(node.is_main_variation(), node.starts_variation(), node.end().board().fen()),
        *([move.uci() for move in node.mainline_moves()], bool(node.mainline()), words(str(node.mainline()))),
        *((node.san(), node.uci()) if node.parent else ()),
    ]


def agree(ours: Game | None, theirs: chess.pgn.Game | None, chance: Random) -> None:
    """Compare two trees, and the places of some of their nodes."""
    assert ours is not None
    assert theirs is not None
    if ours.headers["Result"] == theirs.headers["Result"]:
        assert list(ours.headers.items()) == list(theirs.headers.items())
    pairs = list(zip(nodes(ours), nodes(theirs), strict=True))
    assert [of_node(node) for node, _ in pairs] == [of_node(node) for _, node in pairs]
    for our_node, their_node in chance.sample(pairs, min(len(pairs), 4)):
        assert place_of(our_node) == place_of(their_node)


def by_python_chess(text: str) -> list[chess.pgn.Game]:
    stream = io.StringIO(text)
    return [game for game in iter(lambda: chess.pgn.read_game(stream), None) if game]


def grown(chance: Random, sizes: int) -> chess.pgn.Game:
    """A random tree of python-chess's with comments, NAGs and nested variations."""
    game = chess.pgn.Game({"Event": "Tree", "Result": "1/2-1/2"})
    game.comment = chance.choice(["", "Before the first move"])
    if chance.random() < 0.3:
        game.setup("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 3 17")
    found: list[Any] = [game]
    for _ in range(sizes):
        parent = found[-1] if chance.random() < 0.8 else chance.choice(found)
        moves = {*parent.board().legal_moves} - {child.move for child in parent.variations}
        if moves:
            child = parent.add_variation(chance.choice(sorted(moves, key=chess.Move.uci)))
            found.append(child)
            child.nags.update(chance.sample(range(1, 140), chance.choice([0, 0, 0, 1, 2])))
            child.comment = chance.choice(
                [
                    "",
                    "",
                    "",
                    "Good",
                    "[%eval -1.37,20] [%clk 1:02:03.5]",
                    "[%csl Ge4,Rd5][%cal Bb1c3] why? [%emt 0:00:07]",
                ]
            )
            if chance.random() < 0.2:
                child.set_eval(chess.engine.PovScore(chess.engine.Mate(chance.choice([-3, 2])), True))
            if child.starts_variation():
                child.starting_comment = chance.choice(["", "Or"])
    return game


@pytest.mark.parametrize("path", shared_files("pgn/*.pgn"))
def test_files_give_the_trees_that_python_chess_reads(path: Path) -> None:
    theirs = by_python_chess(path.read_text("utf-8-sig"))[: scaled(1000, 8)]
    ours = [game for game, _ in zip(moff.pgn.read_games(path), theirs, strict=False)]
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert not one.faults
        agree(one, other, Random(len(ours)))


def test_trees_are_read_and_written_as_by_python_chess() -> None:
    chance = Random(49)
    for _ in range(scaled(60, 6)):
        theirs = by_python_chess(str(grown(chance, chance.randint(0, 60))))[0]
        ours = moff.pgn.read_game(str(theirs).encode())
        assert ours is not None
        assert not ours.faults
        agree(ours, theirs, chance)
        for number in range(16):
            options: dict[str, Any] = {
                **{
                    name: bool(number & bit)
                    for name, bit in (("headers", 1), ("comments", 2), ("variations", 4))
                },
                "columns": 80 if number & 8 else None,
            }
            text = ours.accept(moff.pgn.StringExporter(**options))
            assert text == theirs.accept(chess.pgn.StringExporter(**options))
        assert str(ours) == ours.accept(moff.pgn.StringExporter())
        for node, other in zip(nodes(ours), nodes(theirs), strict=True):
            assert node is ours or str(node) == str(other)
        again = by_python_chess(f"{ours}\n\n")
        assert len(again) == 1
        agree(moff.pgn.read_game(io.StringIO(str(ours))), again[0], chance)
        agree(copy.deepcopy(ours), theirs, chance)
        agree(pickle.loads(pickle.dumps(ours)), theirs, chance)


def test_trees_are_edited_as_by_python_chess() -> None:
    chance = Random(7)
    for _ in range(scaled(50, 5)):
        games: tuple[Any, Any] = Game(), chess.pgn.Game()
        for _ in range(30):
            index = chance.randrange(sum(1 for _ in nodes(games[0])))
            ours, theirs = (list(nodes(game))[index] for game in games)
            moves = sorted(move.uci() for move in theirs.board().legal_moves)
            text = chance.choice(moves)
            what = chance.choice(["add_variation", "add_main_variation", "add_line", "change", "change"])
            notes = {"comment": "noted", "nags": [2, 5]}
            if what == "change" and theirs.variations:
                what = chance.choice(["promote", "demote", "promote_to_main", "remove_variation"])
                at = chance.randrange(len(theirs.variations))
                kind = chance.randrange(3)
                for node in (ours, theirs):
                    given = [at, node.variations[at], node.variations[at].move][kind]
                    getattr(node, what)(given)
            elif what != "change":
                for node, move in ((ours, moff.Move.from_uci(text)), (theirs, chess.Move.from_uci(text))):
                    getattr(node, what)([move] if what == "add_line" else move, **notes)
                    assert node.has_variation(move)
                    assert move in node
                    assert node[move].move == move
            agree(*games, chance)


def test_errors_of_lookups_are_those_of_python_chess() -> None:
    game = Game()
    node = game.add_variation(moff.Move.from_uci("e2e4"))
    assert game[0] is game[-1] is game.variation(node.move) is game[node] is node is game.next() is game.end()
    with pytest.raises(KeyError):
        game.variation(moff.Move.from_uci("d2d4"))
    with pytest.raises(IndexError):
        game.variation(1)
    assert moff.Move.from_uci("d2d4") not in game
    assert node.next() is None
    assert node.root() is node.game() is game


@pytest.mark.parametrize(
    "kind", ["path", "name", "bytes", "text", "string", "binary", "buffer", "pipe", "lines"]
)
def test_games_come_from_paths_files_and_bytes(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "three.pgn"
    path.write_text(THREE, encoding="utf-8")
    if kind == "pipe":
        reading, writing = os.pipe()
        os.write(writing, THREE.encode())
        os.close(writing)
    sources: dict[str, Any] = {
        "path": lambda: path,
        "name": lambda: str(path),
        "bytes": lambda: THREE.encode(),
        "text": lambda: path.open(encoding="utf-8"),
        "string": lambda: io.StringIO(THREE),
        "binary": lambda: path.open("rb"),
        "buffer": lambda: io.BytesIO(THREE.encode()),
        "pipe": lambda: os.fdopen(reading, encoding="utf-8"),
        "lines": lambda: Lines(io.StringIO(THREE)),
    }
    source = sources[kind]()
    games = list(moff.pgn.read_games(source))
    for ours, theirs in zip(games, by_python_chess(THREE.replace("[Ev", "\n[Ev")), strict=True):
        agree(ours, theirs, Random(1))
    if hasattr(source, "readline"):
        assert moff.pgn.read_game(source) is None
        if kind not in ("pipe", "lines"):
            source.seek(0)
            assert str(moff.pgn.read_game(source)) == str(games[0])
        source.close()
    else:
        assert str(moff.pgn.read_game(source)) == str(games[0])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mode", ["r", "rb"])
def test_offsets_of_games_lead_back_to_them(mode: str, newline: str, tmp_path: Path) -> None:
    path = tmp_path / "ö.pgn"
    path.write_text(THREE.replace("one", "öne") * 3, encoding="utf-8", newline=newline)
    with open(path, mode, encoding=None if "b" in mode else "utf-8") as handle:
        found = []
        offset = handle.tell()
        while headers := moff.pgn.read_headers(handle):
            found.append((offset, headers["Event"]))
            offset = handle.tell()
        assert [event for _, event in found] == [*"ABC"] * 3
        for offset, event in Random(3).sample(found, 9):
            handle.seek(offset)
            game = moff.pgn.read_game(handle)
            assert game
            assert game.headers["Event"] == event
        handle.seek(0)
        assert sum(iter(lambda: moff.pgn.skip_game(handle), False)) == 9
        handle.seek(0)
        assert [game.headers["Event"] for game in moff.pgn.read_games(handle)] == [*"ABC"] * 3


def test_lines_of_faults_are_those_of_the_file() -> None:
    text = THREE + "\n" + THREE.replace("1. c4", "1. c4 Ke7")
    for source in (io.StringIO(text), text.encode()):
        *good, bad = moff.pgn.read_games(source)  # type: ignore[arg-type]
        assert not any(game.faults for game in good)
        ((line, reason),) = bad.errors
        assert line == text.rstrip().count("\n") + 1
        assert "Ke7" in reason
        assert [move.uci() for move in bad.mainline_moves()] == ["c2c4"]
        assert "1 faults" in repr(bad)


def test_a_file_object_that_games_were_read_from_is_not_kept() -> None:
    handle = io.StringIO(THREE)
    moff.pgn.read_game(handle)
    gone = weakref.ref(handle)
    del handle
    gc.collect()
    assert gone() is None


def test_text_is_read_in_the_encoding_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "names.pgn"
    for encoding, errors in (("latin-1", "strict"), ("utf-16", "strict"), ("utf-8", "surrogateescape")):
        path.write_text('[White "Müller"]\n\n*\n', encoding="latin-1" if "s" in errors[1:] else encoding)
        with open(path, encoding=encoding, errors=errors) as handle:
            game = moff.pgn.read_game(handle)
            assert game
            assert game.headers["White"] == "Müller"
    path.write_text('[White "Müller"]\n\n*\n', encoding="utf-16")
    with open(path, "rb") as binary:
        assert [game.headers["White"] for game in moff.pgn.read_games(binary)] == ["Müller"]


def test_commands_in_comments_are_read_and_set_as_by_python_chess() -> None:
    ours, theirs = Game(), chess.pgn.Game()
    assert (ours.eval(), ours.clock(), ours.emt(), ours.arrows()) == (None, None, None, [])
    for node in (ours, theirs):
        node.comment = "foo [%bar] baz"
    for seconds in (12345, 6.54321, 0, 3600 * 30 + 0.25, -70, None, 5):
        for node in (ours, theirs):
            node.set_clock(seconds)
        assert (ours.clock(), ours.comment) == (theirs.clock(), theirs.comment)
    for cp in (-80, 0, 199, 1234, None, 7):
        for depth in (None, 12):
            ours.set_eval(None if cp is None else PovScore(Cp(cp), False), depth)
            theirs.set_eval(None if cp is None else chess.engine.PovScore(chess.engine.Cp(cp), False), depth)
            assert (value(ours.eval()), ours.comment) == (value(theirs.eval()), theirs.comment)
    for text in ("#0", "#-0", "+0.5", "-#3", "99999999999999", "1"):
        ours.comment = theirs.comment = f"[%eval {text}]"
        assert value(ours.eval()) == value(theirs.eval())
        after, answer = (
            node.add_variation(move) for node, move in ((ours, E4), (theirs, chess.Move(12, 28)))
        )
        after.comment = answer.comment = ours.comment
        assert value(after.eval()) == value(answer.eval())
    for moves in (1, -3):
        ours.set_eval(PovScore(Mate(moves), True))
        theirs.set_eval(chess.engine.PovScore(chess.engine.Mate(moves), True))
        assert (value(ours.eval()), ours.comment) == (value(theirs.eval()), theirs.comment)


def test_many_open_commands_in_a_comment_take_no_time() -> None:
    game = Game()
    game.comment = "[%eval [%csl " * 50_000
    began = time.perf_counter()
    assert (game.eval(), game.arrows()) == (None, [])
    game.set_eval(PovScore(Cp(3), True))
    assert game.comment.endswith("[%csl [%eval 0.03]")
    assert time.perf_counter() - began < scaled(1, 5)  # with the square of the length, a minute


def test_setting_up_writes_the_headers_of_python_chess() -> None:
    chess960 = "rkbqrnnb/pppppppp/8/8/8/8/PPPPPPPP/RKBQRNNB w KQkq - 0 1"
    ours, theirs = Game(), chess.pgn.Game()
    for fen in (chess960, moff.STARTING_FEN, "8/8/4k3/8/4P3/4K3/8/8 b - - 0 17", chess960, moff.STARTING_FEN):
        ours.setup(fen)
        theirs.setup(fen)
        agree(ours, theirs, Random(1))
        ours.setup(moff.Board(fen, chess960=fen == chess960))
        agree(ours, theirs, Random(1))
        assert ours.board().chess960 == theirs.board().chess960
    with pytest.raises(ValueError, match="bad"):
        ours.setup("bad")


def test_games_come_from_boards_and_without_headers() -> None:
    chance = Random(3)
    for fen, chess960 in (
        (moff.STARTING_FEN, False),
        ("4k3/8/8/8/8/8/3P4/4K3 b - - 3 9", False),
        ("rkbqrnnb/pppppppp/8/8/8/8/PPPPPPPP/RKBQRNNB w KQkq - 0 1", True),
    ):
        ours, theirs = moff.Board(fen, chess960=chess960), chess.Board(fen, chess960=chess960)
        for _ in range(100):
            if theirs.is_game_over():
                break
            move = chance.choice(sorted(move.uci() for move in theirs.legal_moves))
            ours.push_uci(move)
            theirs.push_uci(move)
        agree(Game.from_board(ours), chess.pgn.Game.from_board(theirs), chance)
    bare = Game.without_tag_roster()
    assert (str(bare), bare.headers) == ("*", {})
    bare.headers.update({"Zeta": "z", "Result": "1-0", "Event": "late"})
    assert str(bare) == '[Event "late"]\n[Result "1-0"]\n[Zeta "z"]\n\n1-0'


def test_games_are_printed_into_files() -> None:
    games = list(moff.pgn.read_games(THREE.encode()))
    games[0].headers["White"] = 'A "quoted" \\ name'
    printed, exported = io.StringIO(), io.StringIO()
    for game in games:
        print(game, file=printed, end="\n\n")
        assert game.accept(moff.pgn.FileExporter(exported)) == len(str(game)) + 2
    assert printed.getvalue() == exported.getvalue()
    again = list(moff.pgn.read_games(io.StringIO(printed.getvalue())))
    assert [str(game) for game in again] == [str(game) for game in games]
    assert again[0].headers == games[0].headers


def test_export_breaks_long_comments_and_keeps_them_readable() -> None:
    long = "[%eval 0.31] " + "{ a hundred words " * 20
    for comment in (long, long.replace("words", "%words")):
        game = Game()
        game.add_variation(moff.Move.from_uci("e2e4"), comment=comment + "}")
        lines = str(game).splitlines()
        assert max(map(len, lines)) < 80 + 8 * ("%words" in comment)
        assert not any(line.startswith("%") for line in lines)
        assert any("[%eval 0.31]" in line for line in lines)
        again = moff.pgn.read_game(io.StringIO(str(game)))
        assert again
        assert again.end().comment == words(comment)
        assert not again.faults


def test_long_and_deep_games_need_no_recursion() -> None:
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    moves = [moff.Move.from_uci(shuffle[i % 4]) for i in range(scaled(10_000, 2_000))]
    game = Game()
    end = game.add_line(moves)
    assert end.is_mainline()
    assert end.ply() == len(moves)
    assert len(end.board().move_stack) == len(moves)
    again = moff.pgn.read_game(io.StringIO(str(game)))
    assert again
    assert again.mainline_moves() == moves
    assert copy.deepcopy(game).mainline_moves() == moves == pickle.loads(pickle.dumps(game)).mainline_moves()
    text = "1. e4"
    for _ in range(60):
        text = f"1. e4 ({text})"
    nested = moff.pgn.read_game(text.encode())
    assert nested
    assert not nested.faults
    assert len(nested.variations) == 61
    deep = "".join(f"{i}. {'Nf3 Nf6' if i % 2 else 'Ng1 Ng8'} ({i}... h6 " for i in range(1, 61)) + ")" * 60
    nested = moff.pgn.read_game(deep.encode())
    assert nested
    ours, theirs = nested, by_python_chess(deep)[0]
    agree(ours, theirs, Random(1))
    assert str(ours) == theirs.accept(chess.pgn.StringExporter())
    game = node = Game()
    for number, move in enumerate(moves):
        node.add_variation(moff.Move.from_uci(["b1a3", "b8a6", "f3g5", "f6g4"][number % 4]))
        node = node.add_variation(move)
    assert str(game).count("(") == len(moves)
    del end, game, again, nested, node
    gc.collect()


def test_an_opening_has_the_name_of_its_last_known_position() -> None:
    game = moff.pgn.read_game(b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. a3 h5 5. h4")
    assert game
    opening = game.opening()
    assert opening
    assert (opening.eco, opening.name) == ("C70", "Ruy Lopez: Morphy Defense")
    assert Game().opening() is None


def test_a_comment_alone_in_parentheses_stays_with_the_move() -> None:
    game = moff.pgn.read_game(b"1. e4 {a} e5 ({b} ) ({c} 1... c5 (1... d5 {d} ({e} ) ) ) 2. d4")
    assert game
    assert game.accept(moff.pgn.StringExporter(headers=False)) == (
        "1. e4 { a } 1... e5 { b } ( { c } 1... c5 ) ( 1... d5 { d e } ) 2. d4 *"
    )


def test_headers_are_written_whatever_their_type() -> None:
    game = Game()
    game.headers["Round"] = 3  # type: ignore[assignment]
    assert '[Round "3"]' in str(game)


def test_a_game_from_a_damaged_position_is_written() -> None:
    game = moff.pgn.read_game(b'[FEN "nonsense"]\n\n1. e4')
    assert game
    assert game.faults
    assert str(game).endswith('[FEN "nonsense"]\n\n*')


def test_wrong_arguments_are_refused() -> None:
    for source in (None, 3, ["1. e4"]):
        for read in (
            moff.pgn.read_game,
            moff.pgn.read_headers,
            lambda source: [*moff.pgn.read_games(source)],
        ):
            with pytest.raises(TypeError, match="is not a path, a file object or bytes"):
                read(source)
    game = Game()
    for parent, move in ((game, None), (game, "e2e4"), (None, moff.Move.null()), (game, chess.Move.null())):
        with pytest.raises((TypeError, AttributeError)):
            moff.pgn.ChildNode(parent, move)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        game.add_variation(moff.Move.from_uci("e2e4"), annotation="no")
    assert game.variations == []
    alone = moff.pgn.ChildNode.__new__(moff.pgn.ChildNode)
    loose = GameNode()
    for node in (alone, loose):
        for name in (
            "board",
            "ply",
            "turn",
            "san",
            "uci",
            "eval",
            "is_mainline",
            "__str__",
            "end",
            "__repr__",
        ):
            with contextlib.suppress(AttributeError, TypeError):
                getattr(node, name, str)()
    for source in (3, None, [], object()):
        with pytest.raises((TypeError, AttributeError)):
            moff.pgn.read_game(source)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        moff.pgn.read_game("no such file")
    illegal = game.add_variation(moff.Move.from_uci("e2e5"))
    for call in (illegal.board, illegal.san, game.__str__):
        with pytest.raises(moff.IllegalMoveError):
            call()
    assert "e2e5" in repr(illegal)
