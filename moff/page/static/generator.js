// The generator made visible: its moves with scores, the attack map, piece values, the tree of
// the last search.

import { attempt } from "./complaint.js";
import { command } from "./connection.js";
import { byId, element, number } from "./dom.js";
import { moveText, pieceName } from "./pieces.js";

const LEGENDS = {
  "": "",
  attacks:
    "White's attackers on the left, Black's on the right: how many, and the least valuable. ′: a slider stands behind " +
    "another piece on a line to the square. Blue with a line above: more of White's; orange with a line below: more of Black's.",
  piece_values: "By how many pawns the evaluation would be worse for the piece's side without it.",
};

let board = null;
let isOpen = false;
let shown = null; // the FEN whose moves are shown
let facts = null;

/** Set up the switches. */
export function setUpGenerator(theBoard) {
  board = theBoard;
  for (const radio of document.querySelectorAll("[name=overlay]")) radio.addEventListener("change", showOverlay);
  byId("ask-tree").addEventListener("click", () => attempt(showTree));
}

/** Show the data of a position if the panel is open. */
export async function showGenerator(state, open = isOpen) {
  isOpen = open;
  if (state.fen !== shown) byId("searched").replaceChildren();
  if (state.fen === shown && facts) {
    showOverlay();
    return;
  }
  facts = null;
  shown = state.fen;
  if (!isOpen && !overlayName()) return;
  await attempt(async () => {
    const found = await command("testboard");
    if (found.fen !== shown) return;
    facts = found;
    showMoves();
    showOverlay();
  });
}

const overlayName = () => document.querySelector("[name=overlay]:checked").value;

function showMoves() {
  byId("generated").replaceChildren(
    ...["White", "Black"].map((side) => {
      const { moves, reason, to_move: isToMove } = facts.moves[side];
      const count = `${moves.length} ${moves.length === 1 ? "move" : "moves"}${isToMove ? "" : ", if to move"}`;
      const rows = moves.map((move) =>
        element(
          "tr",
          {},
          element("td", {}, move.score),
          element("td", {}, moveText(move.san)),
          element("td", {}, move.coordinates),
        ),
      );
      return element(
        "table",
        { "data-side": side },
        element("caption", {}, `${side}: ${reason || count}`),
        element("thead", {}, element("tr", {}, ...["Score", "Move", "Squares"].map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows),
      );
    }),
  );
}

function showOverlay() {
  const name = overlayName();
  byId("overlay-legend").textContent = LEGENDS[name];
  if (!name || !facts) {
    board.showOverlay(null);
    if (name && !facts) showGenerator({ fen: board.state.fen }, true);
    return;
  }
  board.showOverlay(name === "attacks" ? attackers : worth);
}

function attackers(square) {
  const [white, black] = facts.attacks[square];
  const balance = white.count > black.count ? "more-white" : white.count < black.count ? "more-black" : white.count ? "even" : "";
  const badge = (side, { count, least, behind }) =>
    element(
      "span",
      { class: `attackers ${side}`, "data-attackers": side, "aria-hidden": "true" },
      `${count || "-"}${least}${behind ? "′" : ""}`,
    );
  const parts = [];
  if (white.count || white.behind) parts.push(badge("white", white));
  if (black.count || black.behind) parts.push(badge("black", black));
  const words = ({ count, least, behind }, side) =>
    `${side} attackers ${count}${least ? `, least ${pieceName(least)}` : ""}${behind ? `, ${behind} behind` : ""}`;
  return { class: balance, parts, text: `${words(white, "white")}, ${words(black, "black")}` };
}

function worth(square) {
  const value = facts.piece_values[square];
  if (value === undefined) return null;
  const text = (value / 100).toFixed(2);
  return { class: "", parts: [element("span", { class: "worth", "aria-hidden": "true" }, text)], text: `worth ${text}` };
}

async function showTree() {
  const { branches } = await command("searched");
  const place = byId("searched");
  if (!branches.length) {
    place.replaceChildren(element("p", {}, "No search of this position is in the table: switch the engine on, or play."));
    return;
  }
  place.replaceChildren(
    ...branches.map((branch) =>
      element(
        "details",
        {},
        element("summary", {}, ...describe(branch)),
        element("ul", {}, ...branch.replies.map((reply) => element("li", {}, ...describe(reply)))),
      ),
    ),
  );
}

function describe({ san, score, mate, bound, depth, nodes }) {
  const sign = { ">=": "≥ ", "<=": "≤ " }[bound] ?? "";
  const value = mate === null ? `${score < 0 ? "−" : "+"}${(Math.abs(score) / 100).toFixed(2)}` : `mate ${mate}`;
  const effort = nodes === null ? "" : `, ${number(nodes)} ${nodes === 1 ? "node" : "nodes"}`;
  return [moveText(san), ` ${sign}${value} `, element("span", { class: "quiet" }, `depth ${depth}${effort}`)];
}
