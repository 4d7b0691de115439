// The list of moves: the main line in two columns, variations and comments between.

import { element } from "./dom.js";
import { moved, moveText, placement } from "./pieces.js";
import { TEXTS } from "./texts.js";

/** The tree as maps: moves by number, and the moves that follow each, the main line first. */
export function indexed(tree) {
  const root = { node: 0, parent: null, turn: "", san: "", uci: "", pieces: placement(tree.start), ...tree.root };
  const byNode = new Map([[0, root]]);
  const children = new Map([[0, []]]);
  for (const move of tree.moves) {
    byNode.set(move.node, move);
    children.set(move.node, []);
  }
  for (const move of tree.moves) children.get(move.parent).push(move);
  const main = [byNode.get(0)];
  for (let move = children.get(0)[0]; move; move = children.get(move.node)[0]) main.push(move);
  return { ...tree, byNode, children, main };
}

/** The pieces after a move of a tree: letters by square. */
export function piecesAfter(tree, move) {
  const line = [];
  let at = move;
  for (; !at.pieces; at = tree.byNode.get(at.parent)) line.push(at);
  let { pieces } = at;
  for (const next of line.reverse()) next.pieces = pieces = next.uci ? moved(pieces, next.uci) : pieces;
  return pieces;
}

/** The side that is to move after a move of a tree. */
export function sideAfter(tree, move) {
  if (!move.node) return tree.start.split(" ")[1] === "w" ? "White" : "Black";
  return move.turn.endsWith("...") ? "White" : "Black";
}

export class MoveList {
  /** `onChoose(node)` is called with the number of a move that was chosen. */
  constructor(place, onChoose) {
    this.place = place;
    this.rows = new Map();
    this.hidesFuture = false;
    place.addEventListener("click", (event) => {
      const button = event.target.closest("[data-node]");
      if (button) onChoose(Number(button.dataset.node));
    });
  }

  /** Draw a tree; rows that have not changed stay as they are. */
  draw(tree) {
    const rows = new Map();
    const add = (key, content, make) => {
      const text = JSON.stringify([content, document.documentElement.dataset.notation]);
      const before = this.rows.get(key);
      rows.set(key, before?.text === text ? before : { text, made: make() });
    };
    const { children, main } = tree;
    if (tree.root.comment) add("c0", tree.root.comment, () => comment(tree.root.comment));
    let open = null; // White's move, while Black's may still come into its row
    const flush = (black) => {
      if (!open && !black) return;
      const pair = [open, black];
      add(`m${(open ?? black).node}`, pair.map(shown), () => row(pair));
      open = null;
    };
    for (const move of main.slice(1)) {
      if (move.before) {
        flush(null);
        add(`b${move.node}`, move.before, () => comment(move.before));
      }
      const others = children.get(move.parent).slice(1);
      const isWhite = !move.turn.endsWith("...");
      if (isWhite) {
        flush(null);
        open = move;
      } else {
        flush(move);
      }
      if (move.comment || others.length) {
        flush(null);
        if (move.comment) add(`c${move.node}`, move.comment, () => comment(move.comment));
        for (const other of others) {
          const line = content(other, children);
          add(`v${other.node}`, line, () => variation(line));
        }
      }
    }
    flush(null);
    if (tree.result && tree.result !== "*") add("result", tree.result, () => element("p", { class: "result" }, tree.result));
    if (!tree.moves.length) add("none", "", () => element("p", { class: "quiet" }, TEXTS.noMoves));
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.node : undefined;
    this.place.replaceChildren(...[...rows.values()].map(({ made }) => made));
    this.rows = rows;
    if (focused !== undefined) this.place.querySelector(`[data-node="${focused}"]`)?.focus({ preventScroll: true });
  }

  /** Mark the move on the board, and hide what follows it if the future is hidden. */
  mark(node) {
    for (const button of this.place.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    const current = this.place.querySelector(`[data-node="${node}"]`);
    this.conceal(current, node);
    if (!current) {
      if (node === 0) this.place.scrollTop = 0; // else the move is about to be listed
      return;
    }
    current.setAttribute("aria-current", "true");
    const place = this.place.getBoundingClientRect();
    const box = current.getBoundingClientRect();
    if (box.top < place.top || box.bottom > place.bottom) this.place.scrollTop += box.top - place.top - place.height / 2;
  }

  conceal(current, node) {
    if (!this.hidesFuture && !this.hid) return;
    this.hid = this.hidesFuture;
    let isPast = node !== 0;
    for (const part of this.place.querySelectorAll("[data-node], .comment, .result, .turn, .blank, .variation")) {
      part.classList.toggle("concealed", this.hidesFuture && !isPast);
      if (part === current) isPast = false;
    }
  }
}

/** What is shown of a move. */
function shown(move) {
  return move && [move.node, move.turn, move.san, move.glyph, move.eval?.text, move.clock];
}

/** A line with its variations, as nested arrays. */
function content(first, children) {
  const parts = [];
  let isStart = true;
  for (let move = first; move; [move] = children.get(move.node)) {
    const [main, ...others] = children.get(move.parent);
    if (move.before) parts.push({ comment: move.before });
    parts.push({ move: { node: move.node, turn: move.turn, san: move.san, glyph: move.glyph }, isStart });
    if (move.comment) parts.push({ comment: move.comment });
    const branches = move === main && move !== first ? others : [];
    for (const other of branches) parts.push({ line: content(other, children) });
    isStart = Boolean(move.comment) || branches.length > 0;
  }
  return parts;
}

function row([white, black]) {
  const number = element("span", { class: "turn" }, (white ?? black).turn.replace(/\.+$/, ""));
  const cells = [white, black].map((move, index) => {
    if (!move) return element("span", { class: "blank" }, index === 0 ? "…" : "");
    return button(move, element("span", { class: "eval" }, move.eval?.text ?? ""));
  });
  return element("div", { class: "pair" }, number, ...cells);
}

function variation(line) {
  const made = element("div", { class: "variation", role: "group", "aria-label": TEXTS.variation });
  for (const part of line) {
    if (part.line) made.append(variation(part.line));
    else if (part.comment) made.append(comment(part.comment, "span"));
    else {
      const { move, isStart } = part;
      const turn = !move.turn.endsWith("...") || isStart ? element("span", { class: "turn" }, `${move.turn} `) : null;
      made.append(button(move, null, turn), " ");
    }
  }
  return made;
}

function button(move, after, before = null) {
  const mark = move.glyph ? element("span", { class: "glyph", "data-glyph": move.glyph }, move.glyph) : null;
  const text = element("span", { class: "text" }, before, moveText(move.san), mark);
  const label = move.glyph ? `${move.san}, ${TEXTS.marks[move.glyph]}` : null;
  return element(
    "button",
    { type: "button", class: "move", "data-node": move.node, "data-glyph": move.glyph || null, "aria-label": label },
    text,
    after,
  );
}

function comment(text, tag = "p") {
  return element(tag, { class: "comment" }, text, tag === "span" ? " " : null);
}
