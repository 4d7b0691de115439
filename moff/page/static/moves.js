// The moves of the game with their variations.

import { element } from "./dom.js";
import { moveText } from "./pieces.js";

/** Draw a tree of moves; `onChoose(node)` is called with the chosen move. */
export function drawMoves(place, tree, onChoose) {
  const children = new Map([[0, []]]);
  const byNode = new Map();
  for (const move of tree.moves) {
    byNode.set(move.node, move);
    children.set(move.node, []);
  }
  for (const move of tree.moves) children.get(move.parent).push(move);

  const line = (first, into) => {
    let isStart = true;
    for (let move = first; move; move = children.get(move.node)[0]) {
      const [main, ...others] = children.get(move.parent);
      if (move.opening) into.append(comment(move.opening));
      into.append(button(move, isStart, onChoose));
      if (move.comment) into.append(comment(move.comment));
      if (move === main) {
        for (const other of others) {
          const variation = element("div", { class: "variation", role: "group", "aria-label": "Variation" });
          line(other, variation);
          into.append(variation);
        }
      }
      isStart = move.comment !== "" || (move === main && others.length > 0);
    }
  };

  const content = document.createDocumentFragment();
  if (tree.root.comment) content.append(comment(tree.root.comment));
  line(children.get(0)[0], content);
  if (tree.result && tree.result !== "*") content.append(element("span", { class: "result" }, tree.result));
  if (!tree.moves.length) content.append(element("span", { class: "quiet" }, "No moves yet."));
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.node : undefined;
  place.replaceChildren(content);
  if (focused !== undefined) place.querySelector(`[data-node="${focused}"]`)?.focus({ preventScroll: true });
}

/** Mark the move that the board shows. */
export function markMove(place, node) {
  for (const button of place.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
  const current = place.querySelector(`[data-node="${node}"]`);
  if (!current) {
    if (node === 0) place.scrollTop = 0; // else the move is about to be listed
    return;
  }
  current.setAttribute("aria-current", "true");
  const top = current.offsetTop; // relative to the list, which is positioned
  if (top < place.scrollTop || top + current.offsetHeight > place.scrollTop + place.clientHeight) {
    place.scrollTop = top - place.clientHeight / 2;
  }
}

function button(move, isStart, onChoose) {
  const isWhite = !move.turn.endsWith("...");
  const made = element("button", { type: "button", class: "move", "data-node": move.node, onclick: () => onChoose(move.node) });
  if (isWhite || isStart) made.append(element("span", { class: "turn" }, move.turn), " ");
  made.append(moveText(move.san));
  if (move.glyph) made.append(element("span", { class: "glyph", "data-glyph": move.glyph }, move.glyph));
  return made;
}

function comment(text) {
  return element("span", { class: "comment" }, text);
}
