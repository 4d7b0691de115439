// The generator made visible: its moves with scores, the attack map, piece values, the tree of
// the last search.

import { attempt } from "./complaint.js";
import { send } from "./connection.js";
import { byId, element, number } from "./dom.js";
import { moveText, pieceName } from "./pieces.js";
import { TEXTS } from "./texts.js";

let testBoard = null;
let isGeneratorOpen = false;
let describedFen = null; // the FEN whose moves are describedFen
let facts = null;

/** Build the panel. */
export function setUpGenerator(panel, theBoard) {
  testBoard = theBoard;
  const radios = Object.entries(TEXTS.overlays).map(([value, text]) =>
    element(
      "label",
      { class: "check" },
      element("input", { type: "radio", name: "overlay", value, checked: value === "", onchange: showOverlay }),
      text,
    ),
  );
  panel.append(
    element("fieldset", { class: "row" }, element("legend", {}, TEXTS.onBoard), ...radios),
    element("p", { class: "quiet", id: "overlay-legend" }),
    element("h2", {}, TEXTS.generated),
    element("p", { class: "quiet" }, TEXTS.generatedHelp),
    element("div", { id: "generated" }),
    element("h2", {}, TEXTS.searched),
    element("p", { class: "quiet" }, TEXTS.searchedHelp),
    element("button", { type: "button", id: "ask-tree", onclick: () => attempt(showSearched) }, TEXTS.showTree),
    element("div", { id: "searched" }),
  );
}

/** Show the data of a position if the panel is open. */
export async function showGenerator(state, open = isGeneratorOpen) {
  isGeneratorOpen = open;
  if (state.fen !== describedFen) byId("searched").replaceChildren();
  if (state.fen === describedFen && facts) {
    showOverlay();
    return;
  }
  facts = null;
  describedFen = state.fen;
  if (!isGeneratorOpen && !overlayName()) return;
  await attempt(async () => {
    const found = await send("testboard");
    if (found.fen !== describedFen) return;
    facts = found;
    showGenerated();
    showOverlay();
  });
}

const overlayName = () => document.querySelector("[name=overlay]:checked").value;

function showGenerated() {
  byId("generated").replaceChildren(
    ...["White", "Black"].map((side) => {
      const { moves, reason, to_move: isToMove } = facts.moves[side];
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
        element("caption", {}, reason ? `${side}: ${reason}` : TEXTS.generatedCount(side, moves.length, isToMove)),
        element("thead", {}, element("tr", {}, ...TEXTS.generatedColumns.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows),
      );
    }),
  );
}

function showOverlay() {
  const name = overlayName();
  byId("overlay-legend").textContent = TEXTS.legends[name];
  if (!name || !facts) {
    testBoard.showOverlay(null);
    if (name && !facts) showGenerator({ fen: describedFen }, true);
    return;
  }
  const describe = name === "attacks" ? attackers : worth;
  testBoard.showOverlay((square) => facts && describe(square)); // none while those of a new position are on their way
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
  const words = ({ count, least, behind }, side) => TEXTS.attackers(side, count, least && pieceName(least), behind);
  return { class: balance, parts, text: `${words(white, "white")}, ${words(black, "black")}` };
}

function worth(square) {
  const value = facts.piece_values[square];
  if (value === undefined) return null;
  const text = (value / 100).toFixed(2);
  return { class: "", parts: [element("span", { class: "worth", "aria-hidden": "true" }, text)], text: TEXTS.worth(text) };
}

async function showSearched() {
  const { branches } = await send("searched");
  const place = byId("searched");
  if (!branches.length) {
    place.replaceChildren(element("p", {}, TEXTS.noTree));
    return;
  }
  place.replaceChildren(
    ...branches.map((branch) =>
      element(
        "details",
        {},
        element("summary", {}, ...describeBranch(branch)),
        element("ul", {}, ...branch.replies.map((reply) => element("li", {}, ...describeBranch(reply)))),
      ),
    ),
  );
}

function describeBranch({ san, score, mate, bound, depth, nodes }) {
  const sign = { ">=": "≥ ", "<=": "≤ " }[bound] ?? "";
  const value = mate === null ? `${score < 0 ? "−" : "+"}${(Math.abs(score) / 100).toFixed(2)}` : `mate ${mate}`;
  const effort = nodes === null ? "" : TEXTS.nodes(nodes, number(nodes));
  return [moveText(san), ` ${sign}${value} `, element("span", { class: "quiet" }, `depth ${depth}${effort}`)];
}
