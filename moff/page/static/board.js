// The board: draws a position, and reports the moves made on it by mouse, touch and keyboard.

import { byId, drawing, element } from "./dom.js";
import { piece, pieceName, placement } from "./pieces.js";

const FILES = "abcdefgh";
const DRAG = 5; // pixels

export class Board {
  /** `onMove(coordinates)` is called with each legal move. */
  constructor(root, onMove) {
    this.root = root;
    this.onMove = onMove;
    this.state = null;
    this.overlay = null;
    this.arrows = [];
    this.selected = "";
    this.focused = "e2";
    this.drag = null;
    this.cells = new Map();
    this.isFlipped = null;
    root.setAttribute("role", "grid");
    root.setAttribute("aria-label", "Chess board");
    root.addEventListener("pointerdown", (event) => this.press(event));
    root.addEventListener("pointermove", (event) => this.move(event));
    root.addEventListener("pointerup", (event) => this.release(event));
    root.addEventListener("pointercancel", (event) => event.isPrimary && this.drop());
    root.addEventListener("keydown", (event) => this.type(event));
    root.addEventListener("focusin", (event) => this.focus(event.target.closest("[data-square]")));
    this.layer = drawing("svg", { id: "arrows", viewBox: "0 0 800 800", "aria-hidden": "true" });
  }

  /** Show a state of the tab. */
  show(state) {
    const isOther = !this.state || this.state.fen !== state.fen || this.state.node !== state.node;
    if (isOther) {
      // A piece in the hand stays there while another one moves.
      const held = this.drag?.square;
      const stays = held && placement(this.state.fen)[held] === placement(state.fen)[held];
      const isStart = !state.node; // perhaps of a new game
      if (!stays || isStart) this.drop();
    }
    this.state = state;
    if (this.isFlipped !== state.flipped) {
      this.drop();
      this.build();
    }
    if (isOther) this.selected = this.drag?.ghost && this.targets(this.drag.square).length ? this.drag.square : "";
    this.draw();
  }

  /** Show arrows: paths in a board of 800 by 800. */
  showArrows(arrows) {
    this.arrows = arrows;
    this.layer.replaceChildren(
      ...arrows.map((arrow) =>
        drawing("path", { d: arrow.path, fill: arrow.colour, "data-arrow": arrow.squares, "data-name": arrow.name }),
      ),
    );
  }

  /** Show something on every square: a function that returns {class, text, parts} for its name, or null. */
  showOverlay(overlay) {
    this.overlay = overlay;
    if (this.state) this.draw();
  }

  build() {
    this.isFlipped = this.state.flipped;
    this.cells.clear();
    const ranks = this.isFlipped ? [1, 2, 3, 4, 5, 6, 7, 8] : [8, 7, 6, 5, 4, 3, 2, 1];
    const files = this.isFlipped ? [...FILES].reverse() : [...FILES];
    const rows = ranks.map((rank) => {
      const cells = files.map((file) => {
        const square = file + rank;
        const shade = (FILES.indexOf(file) + rank) % 2 ? "dark" : "light";
        const cell = element("div", { class: `square ${shade}`, role: "gridcell", "data-square": square, tabindex: -1 });
        this.cells.set(square, cell);
        return cell;
      });
      return element("div", { role: "row" }, ...cells);
    });
    const hadFocus = this.root.contains(document.activeElement);
    this.root.replaceChildren(...rows, this.layer);
    if (hadFocus) this.cells.get(this.focused).focus({ preventScroll: true });
    this.edges = { file: files[0], rank: ranks[7] };
  }

  draw() {
    const { check, last, glyph } = this.state;
    const pieces = placement(this.state.fen);
    const targets = new Set(this.targets(this.selected));
    for (const [square, cell] of this.cells) {
      const letter = pieces[square] ?? "";
      const is = {
        last: last.includes(square),
        check: square === check,
        selected: square === this.selected,
        target: targets.has(square),
        taken: targets.has(square) && letter !== "",
        movable: this.targets(square).length > 0,
      };
      for (const [name, value] of Object.entries(is)) cell.classList.toggle(name, value);
      const label = [square, letter ? pieceName(letter) : "empty"];
      if (is.check) label.push("in check");
      if (is.last) label.push("last move");
      if (is.selected) label.push("selected");
      if (is.target) label.push("can be moved to");
      const children = [];
      if (square[1] === String(this.edges.rank)) children.push(coordinate("file", square[0]));
      if (square[0] === this.edges.file) children.push(coordinate("rank", square[1]));
      if (letter) children.push(piece(letter));
      if (glyph && square === last[1]) children.push(mark(glyph));
      const over = this.overlay?.(square);
      cell.dataset.over = over?.class ?? "";
      if (over) {
        children.push(...over.parts);
        if (over.text) label.push(over.text);
      }
      cell.replaceChildren(...children);
      cell.setAttribute("aria-label", label.join(", "));
      cell.setAttribute("aria-selected", String(is.selected));
      cell.tabIndex = square === this.focused ? 0 : -1;
    }
  }

  /** The squares that the piece on a square can go to. */
  targets(square) {
    if (!square || !this.state) return [];
    return this.state.moves.filter((move) => move.startsWith(square)).map((move) => move.slice(2, 4));
  }

  select(square) {
    this.selected = square;
    this.draw();
  }

  /** Play from one square to another, if that is legal; asks for the piece of a promotion. */
  async play(origin, target) {
    const moves = this.state.moves.filter((move) => move.startsWith(origin + target));
    this.select("");
    if (!moves.length) return false;
    let move = moves[0];
    if (moves.length > 1) {
      const side = this.state.side;
      const chosen = await promotion(side);
      if (!chosen) return true;
      move = origin + target + chosen;
    }
    this.onMove(move);
    return true;
  }

  /** A square was clicked or confirmed. */
  choose(square) {
    if (this.selected && this.targets(this.selected).includes(square)) this.play(this.selected, square);
    else this.select(square !== this.selected && this.targets(square).length ? square : "");
  }

  // Mouse and touch.

  squareAt(event) {
    const box = this.root.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * 8);
    const row = Math.floor(((event.clientY - box.top) / box.height) * 8);
    if (column < 0 || column > 7 || row < 0 || row > 7) return "";
    return this.isFlipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
  }

  press(event) {
    if (event.button !== 0 || !event.isPrimary || !this.state) return;
    const square = this.squareAt(event);
    if (!square) return;
    event.preventDefault();
    this.focus(this.cells.get(square));
    this.root.setPointerCapture(event.pointerId);
    this.drag = { square, x: event.clientX, y: event.clientY, ghost: null };
  }

  move(event) {
    const drag = this.drag;
    if (!drag || !event.isPrimary) return;
    if (!drag.ghost) {
      if (!isFar(drag, event) || !this.targets(drag.square).length) return;
      this.select(drag.square);
      const cell = this.cells.get(drag.square);
      drag.ghost = cell.querySelector(".piece").cloneNode(true);
      drag.ghost.classList.add("ghost");
      drag.ghost.style.width = drag.ghost.style.height = `${cell.clientWidth}px`;
      cell.classList.add("lifted");
      document.body.append(drag.ghost);
    }
    drag.ghost.style.left = `${event.clientX}px`;
    drag.ghost.style.top = `${event.clientY}px`;
    const over = this.squareAt(event);
    for (const [square, cell] of this.cells) cell.classList.toggle("over", square === over);
  }

  release(event) {
    if (!event.isPrimary) return; // another finger
    const drag = this.drag;
    this.drop();
    if (!drag) return;
    const square = this.squareAt(event);
    if (!drag.ghost) {
      if (square === drag.square || !isFar(drag, event)) this.choose(drag.square);
      else if (this.targets(drag.square).includes(square)) this.play(drag.square, square);
    } else if (square && square !== drag.square) {
      this.play(drag.square, square);
    }
  }

  /** Stop dragging. */
  drop() {
    this.drag?.ghost?.remove();
    this.drag = null;
    for (const cell of this.cells.values()) cell.classList.remove("over", "lifted");
  }

  // Keyboard.

  focus(cell) {
    if (!cell) return;
    const before = this.cells.get(this.focused);
    if (before) before.tabIndex = -1;
    this.focused = cell.dataset.square;
    cell.tabIndex = 0;
  }

  type(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step) {
      const sign = this.isFlipped ? -1 : 1;
      const file = FILES.indexOf(this.focused[0]) + sign * step[0];
      const rank = Number(this.focused[1]) + sign * step[1];
      if (file >= 0 && file < 8 && rank >= 1 && rank <= 8) {
        this.focus(this.cells.get(FILES[file] + rank));
        this.cells.get(this.focused).focus();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(this.focused);
    } else if (event.key === "Escape") {
      this.select("");
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Whether the pointer has moved too far since it was pressed to count as a click. */
function isFar(drag, event) {
  return Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > DRAG;
}

function coordinate(kind, text) {
  return element("span", { class: `coordinate ${kind}`, "aria-hidden": "true" }, text);
}

function mark(glyph) {
  return element("span", { class: "mark", "data-glyph": glyph, "aria-hidden": "true" }, glyph);
}

/** Ask for the promotion piece; returns its letter, "" if none was chosen. */
function promotion(side) {
  const dialog = byId("promotion");
  return new Promise((resolve) => {
    const choices = ["q", "r", "b", "n"].map((letter) => {
      const shown = side === "White" ? letter.toUpperCase() : letter;
      return element(
        "button",
        { type: "button", "aria-label": pieceName(shown), "data-choice": letter, onclick: () => dialog.close(letter) },
        piece(shown),
      );
    });
    dialog.replaceChildren(...choices);
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
    dialog.onclick = (event) => {
      if (event.target === dialog) dialog.close("");
    };
    dialog.showModal();
  });
}
