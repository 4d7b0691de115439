"""Stored games of self-play, read and written as bench/gamefile.py describes them, with python-chess."""

import json
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import chess
import gamefile

from search.replay import Mixer
from search.selfplay import Game

WORTH = {
    chess.PAWN: 100,
    chess.KNIGHT: 300,
    chess.BISHOP: 300,
    chess.ROOK: 500,
    chess.QUEEN: 900,
    chess.KING: 0,
}


PROMOTED = [None, chess.KNIGHT, chess.ROOK, chess.BISHOP, chess.QUEEN]


@dataclass
class Stored:
    """A stored game: its start, all moves, the random plies before the first score, the scores, White's
    points doubled.
    """

    start: chess.Board
    moves: list[chess.Move]
    opening: int
    scores: list[int]
    result: int


def ranked(board: chess.Board) -> list[chess.Move]:
    """The legal moves in the order of their ranks."""

    def order(move: chess.Move) -> tuple[int, int, int, bool]:
        target = move.to_square
        if castles := board.is_castling(move):
            side = chess.square_rank(move.from_square)
            target = chess.square(6 if move.to_square > move.from_square else 2, side)
        return target, move.from_square, PROMOTED.index(move.promotion), castles

    return sorted(board.legal_moves, key=order)


def start_of(white: int, black: int) -> chess.Board:
    """The start of a game by the Chess960 numbers of both sides."""
    board = chess.Board.from_chess960_pos(white)
    other = chess.Board.from_chess960_pos(black)
    for square in chess.SquareSet(chess.BB_RANK_8):
        board.set_piece_at(square, other.piece_at(square))
    board.castling_rights = board.rooks & (chess.BB_RANK_1 | chess.BB_RANK_8)
    board.chess960 = True
    return board


def blocks(path: Path) -> Iterator[tuple[dict[str, Any], list[Stored]]]:
    """The blocks of an intact file: what the header and the settings say, and the games."""
    data = path.read_bytes()
    names = ("games", "seed", "first", "positions", "usable", "settings", "size", "checksum")
    while data:
        magic, version, *numbers = struct.unpack_from("<8sHHQQIIIII", data)
        head = dict(zip(names, numbers, strict=True))
        assert (magic, version) == (b"MOFFGAME", 2)
        assert struct.unpack_from("<I", data, 48)[0] == zlib.crc32(data[:48])
        content, data = data[52:], data[52 + head["settings"] + head["size"] :]
        content = content[: head["settings"] + head["size"]]
        assert zlib.crc32(content) == head["checksum"]
        head["settings"], packed = json.loads(content[: head["settings"]]), content[head["settings"] :]
        yield head, games(zlib.decompress(packed, -15), head["games"])


def games(text: bytes, count: int) -> list[Stored]:
    """The games of an inflated block."""
    found = []
    heads = list(struct.iter_unpack("<HHHBB", text[: 8 * count]))
    at = 8 * count
    scores = at + sum(plies for _, _, plies, _, _ in heads)
    for white, black, plies, opening, result in heads:
        start = start_of(white, black)
        board = start.copy()
        moves = []
        for rank in text[at : at + plies]:
            moves.append(ranked(board)[rank])
            board.push(moves[-1])
        at += plies
        values = []
        for _ in range(plies - opening):
            code = text[scores]
            if code == 255:
                values.append(struct.unpack_from("<h", text, scores + 1)[0])
                scores += 3
            else:
                difference = -(code + 1) // 2 if code % 2 else code // 2
                values.append((values[-1] if values else 0) + difference)
                scores += 1
        found.append(Stored(start, moves, opening, values, result))
    assert scores == len(text)
    return found


def material(board: chess.Board) -> int:
    """White's material less Black's, in centipawns."""
    return sum(WORTH[piece.piece_type] * (1 if piece.color else -1) for piece in board.piece_map().values())


def make_games(count: int, seed: int, plies: int = 100) -> list[dict[str, Any]]:
    """Random games with the fields of `search.selfplay.Game`. Their scores are the material, at times a large
    number or a mate. They end by the rules or after so many plies.
    """
    chance = Random(seed)
    found = []
    for number in range(count):
        white, black = 518, 518
        if number % 3 == 2:
            white, black = chance.randrange(960), chance.randrange(960)
        board = start_of(white, black)
        opening = chance.randrange(10)
        moves, scores = bytearray(), []
        while len(moves) < plies and not board.is_game_over() and not board.can_claim_draw():
            if len(moves) >= opening:
                odd = {0: 31990, 1: -31985, 2: 5000, 3: -127, 4: 128}.get(chance.randrange(60))
                scores.append(material(board) if odd is None else odd)
            legal = ranked(board)
            rank = chance.randrange(len(legal))
            moves.append(rank)
            board.push(legal[rank])
        outcome = board.outcome()
        result = chance.choice([0, 2]) if outcome is None else {True: 2, False: 0, None: 1}[outcome.winner]
        if outcome is None and board.can_claim_draw():
            result = 1
        found.append(
            {
                "white": white,
                "black": black,
                "opening": min(opening, len(moves)),
                "result": result,
                "moves": bytes(moves),
                "scores": scores,
            }
        )
    return found


def game_of(fields: dict[str, Any]) -> Game:
    """A game with these fields."""
    return Game(**{**fields, "scores": array("h", fields["scores"])}, usable=0)


def make_block(seed: int = 1, first: int = 0, count: int = 3, plies: int = 100) -> gamefile.Block:
    """A block of random games, whose usable positions are counted."""
    games = [game_of(fields) for fields in make_games(count, 1000 * seed + first, plies)]
    block = gamefile.packed(seed, first, {"nodes": 7}, games)
    mixer = Mixer(block.positions)
    mixer.add(block.inflated(), block.games)
    return block._replace(usable=mixer.count)


def make_file(path: Path, *made: gamefile.Block) -> Path:
    """A file of these blocks, which are added if it is there."""
    for block in made:
        gamefile.append(path, block)
    return path


def make_pile(folder: Path, count: int, size: int = 6, plies: int = 100) -> Path:
    """A folder with two files of so many blocks of random games."""
    folder.mkdir(exist_ok=True)
    for seed, name in enumerate(("a.moff", "b.moff"), 1):
        make_file(folder / name, *(make_block(seed, size * n, size, plies) for n in range(count)))
    return folder
