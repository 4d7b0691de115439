"""What books and tablebases know about a position, as values for JSON."""

import os
from typing import Any

from moff.syzygy_path import PATH, opened
from moff.tb import NAMES
from search.syzygy.ranking import FIFTY_MOVES, name_of, rank
from x88.board import Board
from x88.book.book import Book
from x88.notation import coordinate, san


def book_moves(book: Book, board: Board) -> list[dict[str, Any]]:
    """The moves of a book, with their shares in per cent."""
    choices = book.choices(board)
    total = sum(choice.weight for choice in choices) or 1
    return [{**_move(board, choice.move), "share": round(100 * choice.weight / total)} for choice in choices]


def table_moves(board: Board) -> list[dict[str, Any]]:
    """All moves with their results and distances in plies (DTZ), best first; none if no table knows them."""
    tables = opened(os.environ.get(PATH, ""))
    if not tables.most or board.castling or len(name_of(board)) - 1 > tables.most:
        return []
    ranked = rank(tables, board) or []
    return [
        {**_move(board, each.move), "result": NAMES[each.result], "dtz": min(abs(each.dtz), FIFTY_MOVES)}
        for each in ranked
    ]


def _move(board: Board, move: int) -> dict[str, str]:
    return {"san": san.write(board, move), "uci": coordinate.write(move)}
