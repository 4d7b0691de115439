// Moff's drawings of the pieces, and moves with figurines.

import { drawing, element } from "./dom.js";

export const NAMES = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight", P: "pawn" };

/** Fetch the drawings, so that `piece` can use them. */
export async function loadPieces() {
  const figurines = await (await fetch("figurines.json")).json();
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

/** The drawing of a piece, by its FEN letter. */
export function piece(letter) {
  const side = letter === letter.toUpperCase() ? "white" : "black";
  return drawing(
    "svg",
    { class: `piece ${side}`, "data-piece": letter, viewBox: "0 0 100 100", "aria-hidden": "true" },
    drawing("use", { href: `#piece-${letter.toUpperCase()}` }),
  );
}

/** A piece in words, by its FEN letter. */
export function pieceName(letter) {
  return `${letter === letter.toUpperCase() ? "white" : "black"} ${NAMES[letter.toUpperCase()]}`;
}

/** The SAN of a move, with letters or, depending on the settings, with figurines. */
export function moveText(san) {
  const text = element("span", { class: "san" });
  if (document.documentElement.dataset.notation !== "figurines") {
    text.append(san);
    return text;
  }
  for (const character of san) {
    if ("KQRBN".includes(character)) {
      text.append(element("span", { class: "unseen" }, character), figurine(character));
    } else {
      text.append(character);
    }
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
      else found["abcdefgh"[file++] + (8 - index)] = character;
    }
  });
  return found;
}
