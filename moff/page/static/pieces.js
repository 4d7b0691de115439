// Moff's drawings of the pieces, positions as letters by square, and moves as text.

import { drawing, element } from "./dom.js";
import { TEXTS } from "./texts.js";

export const FILES = "abcdefgh";

const VALUES = { P: 1, N: 3, B: 3, R: 5, Q: 9 };

/** Put the drawings into the page, so that `piece` can use them. */
export function storePieces(figurines) {
  const store = drawing("svg", { class: "unseen", "aria-hidden": "true" });
  for (const [letter, { shapes, lines }] of Object.entries(figurines)) {
    store.append(
      drawing(
        "symbol",
        { id: `piece-${letter}`, viewBox: "0 0 100 100" },
        drawing("path", { d: shapes }),
        drawing("path", { d: lines, class: "inner" }),
      ),
    );
  }
  document.body.append(store);
}

export const sideOf = (letter) => (letter === letter.toUpperCase() ? "White" : "Black");

/** The drawing of a piece, by its FEN letter. */
export function piece(letter) {
  return drawing(
    "svg",
    { class: `piece ${sideOf(letter).toLowerCase()}`, "data-piece": letter, viewBox: "0 0 100 100", "aria-hidden": "true" },
    drawing("use", { href: `#piece-${letter.toUpperCase()}` }),
  );
}

/** A piece in words, by its FEN letter. */
export function pieceName(letter) {
  const side = sideOf(letter) === "White" ? TEXTS.white : TEXTS.black;
  return TEXTS.piece(side, TEXTS.names[letter.toUpperCase()]);
}

/** The SAN of a move, with letters or, depending on the settings, with figurines. */
export function moveText(san) {
  const text = element("span", { class: "san" });
  if (document.documentElement.dataset.notation !== "figurines") {
    text.append(san);
    return text;
  }
  for (const character of san) {
    if ("KQRBN".includes(character)) text.append(element("span", { class: "unseen" }, character), figurine(character));
    else text.append(character);
  }
  return text;
}

function figurine(letter) {
  return drawing(
    "svg",
    { class: "figurine", viewBox: "12 6 76 84", "aria-hidden": "true" },
    drawing("use", { href: `#piece-${letter}` }),
  );
}

/** The pieces of a FEN: letters by square. */
export function placement(fen) {
  const found = {};
  fen.split(" ")[0].split("/").forEach((row, index) => {
    let file = 0;
    for (const character of row) {
      if (character >= "1" && character <= "8") file += Number(character);
      else found[FILES[file++] + (8 - index)] = character;
    }
  });
  return found;
}

/** The first field of a FEN, from letters by square. */
export function written(pieces) {
  return [8, 7, 6, 5, 4, 3, 2, 1]
    .map((rank) => [...FILES].map((file) => pieces[file + rank] ?? "1").join("").replace(/1+/g, (run) => String(run.length)))
    .join("/");
}

/** The pieces after a legal move in coordinates; castling is the king onto its target or its own rook. */
export function moved(pieces, move) {
  const origin = move.slice(0, 2);
  const target = move.slice(2, 4);
  const after = { ...pieces };
  const letter = pieces[origin];
  if (!letter) return after;
  const isKing = letter.toUpperCase() === "K";
  const rank = origin[1];
  const steps = FILES.indexOf(target[0]) - FILES.indexOf(origin[0]);
  delete after[origin];
  const ownRook = isKing && pieces[target] && pieces[target] === (letter === "K" ? "R" : "r");
  if (isKing && (ownRook || (Math.abs(steps) === 2 && rank === target[1] && origin[0] === "e"))) {
    const isShort = steps > 0;
    const rook = ownRook ? target : (isShort ? "h" : "a") + rank;
    const rookLetter = pieces[rook];
    delete after[rook];
    after[(isShort ? "g" : "c") + rank] = letter;
    if (rookLetter) after[(isShort ? "f" : "d") + rank] = rookLetter;
    return after;
  }
  if (letter.toUpperCase() === "P" && steps && !pieces[target]) delete after[target[0] + rank]; // en passant
  const promoted = move[4];
  after[target] = promoted ? (letter === "P" ? promoted.toUpperCase() : promoted) : letter;
  return after;
}

/** The pieces that each side has captured and not lost in return, as letters, and by how many points White is ahead. */
export function material(pieces) {
  const captured = { White: [], Black: [] };
  let ahead = 0;
  const letters = Object.values(pieces);
  for (const kind of "QRBNP") {
    const count = (letter) => letters.filter((other) => other === letter).length;
    const more = count(kind) - count(kind.toLowerCase());
    ahead += VALUES[kind] * more;
    for (let i = 0; i < more; i++) captured.White.push(kind.toLowerCase());
    for (let i = 0; i < -more; i++) captured.Black.push(kind);
  }
  return { captured, ahead };
}

/** A small picture of a position. */
export function smallBoard(pieces, last, isFlipped) {
  const made = element("div", { class: "small-board", "aria-hidden": "true" });
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const square = isFlipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
      const shade = (row + column) % 2 ? "dark" : "light";
      const cell = element("div", { class: `square ${shade}${last.includes(square) ? " last" : ""}` });
      if (pieces[square]) cell.append(piece(pieces[square]));
      made.append(cell);
    }
  }
  return made;
}
