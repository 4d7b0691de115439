// The board: draws a position, and reports what is done on it by mouse, touch and keyboard.

import { shape } from "./arrows.js";
import { drawing, element } from "./dom.js";
import { FILES, moved, piece, pieceName, sideOf } from "./pieces.js";
import { TEXTS } from "./texts.js";

const FAR = 5; // pixels that make a press a drag
const GLIDE = 150; // milliseconds
const LONG_PRESS = 450; // milliseconds

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Board {
  /** `onMove(coordinates)` is called with each legal move, `onShapes(shapes)` when the user draws, and
   * `onEdit(pieces)` with the letters by square when a position is edited.
   */
  constructor(root, { onMove, onShapes, onEdit }) {
    this.root = root;
    this.onMove = onMove;
    this.onShapes = onShapes;
    this.onEdit = onEdit;
    this.view = null;
    this.pieces = {};
    this.overlay = null;
    this.arrows = [];
    this.selected = "";
    this.focused = "e2";
    this.press = null;
    this.premove = "";
    this.pen = ""; // the colour of the drawing tool, empty without
    this.isEditing = false;
    this.brush = ""; // in the editor: the letter to place, "x" to remove, empty to drag
    this.cells = new Map();
    this.isFlipped = null;
    root.setAttribute("role", "grid");
    root.setAttribute("aria-label", TEXTS.board);
    root.addEventListener("pointerdown", (event) => this.begin(event));
    document.addEventListener("pointermove", (event) => this.drag(event));
    document.addEventListener("pointerup", (event) => this.end(event));
    document.addEventListener("pointercancel", (event) => event.isPrimary && this.drop());
    root.addEventListener("contextmenu", (event) => event.preventDefault());
    root.addEventListener("keydown", (event) => this.type(event));
    root.addEventListener("focusin", (event) => this.focus(event.target.closest("[data-square]")));
    this.layer = drawing("svg", { id: "arrows", viewBox: "0 0 800 800", "aria-hidden": "true" });
  }

  /** Show a position: pieces (letters by square), key (of the node), last, check, moves, side, glyph, flipped, shapes, and `own`, the side
   * that may enter its next move while it waits.
   */
  show(view) {
    const isOther = this.view?.key !== view.key;
    const before = this.pieces;
    if (isOther) this.chooser?.close("");
    if (isOther && !this.isEditing) {
      this.pieces = view.pieces;
      // A piece in the hand stays there while another one moves.
      const held = this.press?.square;
      if (!held || before[held] !== this.pieces[held] || view.isStart) this.drop();
    }
    this.view = view;
    if (this.isFlipped !== view.flipped) {
      this.drop();
      this.build();
    }
    if (isOther) this.selected = this.press?.ghost && this.targets(this.press.square).length ? this.press.square : "";
    if (this.premove && (!view.own || view.moves.length)) this.playPremove();
    this.draw();
    this.showArrows();
    if (isOther) this.glide(before);
  }

  /** Show the engine's arrows: {from, to, colour, name}. */
  showArrows(arrows = this.arrows) {
    this.arrows = arrows;
    const shapes = [...(this.view?.shapes ?? [])];
    if (this.press?.pen) shapes.push([this.press.pen, this.press.square, this.press.over || this.press.square]);
    this.layer.replaceChildren(
      ...arrows.map((arrow) => shape(arrow.from, arrow.to, arrow.colour, arrow.name, this.isFlipped)),
      ...shapes.map(([colour, origin, target]) => shape(origin, target, colour, "own", this.isFlipped)),
    );
  }

  /** Show something on every square: a function that returns {class, text, parts} for its name, or null. */
  showOverlay(overlay) {
    this.overlay = overlay;
    if (this.view) this.draw();
  }

  /** Begin or end editing. */
  edit(isEditing, pieces = this.pieces) {
    this.isEditing = isEditing;
    this.brush = "";
    this.pieces = isEditing ? { ...pieces } : this.view.pieces;
    this.select("");
  }

  build() {
    this.isFlipped = this.view.flipped;
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
    if (!this.view) return;
    const { check, last, glyph } = this.isEditing ? { check: "", last: [], glyph: "" } : this.view;
    const targets = new Set(this.targets(this.selected));
    for (const [square, cell] of this.cells) {
      const letter = this.pieces[square] ?? "";
      const is = {
        last: last.includes(square),
        check: square === check,
        selected: square === this.selected,
        premove: this.premove !== "" && (this.premove.startsWith(square) || this.premove.slice(2, 4) === square),
        target: targets.has(square),
        taken: targets.has(square) && letter !== "",
        movable: this.isEditing ? letter !== "" : this.targets(square).length > 0,
      };
      for (const [name, value] of Object.entries(is)) cell.classList.toggle(name, value);
      const label = [square, letter ? pieceName(letter) : TEXTS.empty];
      if (is.check) label.push(TEXTS.inCheck);
      if (is.last) label.push(TEXTS.lastMove);
      if (is.selected) label.push(TEXTS.selected);
      if (is.target) label.push(TEXTS.canMove);
      const children = [];
      if (square[1] === String(this.edges.rank)) children.push(coordinate("file", square[0]));
      if (square[0] === this.edges.file) children.push(coordinate("rank", square[1]));
      if (letter) children.push(this.drawn(cell, letter));
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

  /** The drawing of the piece on a square: the one that is there stays, as it may be gliding. */
  drawn(cell, letter) {
    const there = cell.querySelector(":scope > .piece");
    return there?.dataset.piece === letter ? there : piece(letter);
  }

  /** Let the pieces that have moved glide to their squares. */
  glide(before) {
    if (still.matches || this.isEditing || document.hidden) return;
    const gone = Object.keys(before).filter((square) => before[square] !== this.pieces[square]);
    for (const [square, letter] of Object.entries(this.pieces)) {
      if (before[square] === letter) continue;
      const at = gone.findIndex((from) => before[from] === letter);
      if (at < 0) continue;
      const [origin] = gone.splice(at, 1);
      const [from, to] = [this.cells.get(origin), this.cells.get(square)].map((cell) => cell.getBoundingClientRect());
      const drawn = this.cells.get(square).querySelector(".piece");
      const start = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
      this.cells.get(square).classList.add("gliding");
      const motion = drawn.animate([{ transform: start }, { transform: "none" }], { duration: GLIDE, easing: "ease-out" });
      const cell = this.cells.get(square);
      motion.onfinish = motion.oncancel = () => cell.classList.remove("gliding");
    }
  }

  /** The squares that the piece on a square can go to; for the next move of a side that waits, roughly. */
  targets(square) {
    if (!square || !this.view || this.isEditing) return [];
    const { moves, own } = this.view;
    if (moves.length) return moves.filter((move) => move.startsWith(square)).map((move) => move.slice(2, 4));
    const letter = this.pieces[square];
    return own && letter && sideOf(letter) === own ? reach(letter, square) : [];
  }

  select(square) {
    this.selected = square;
    this.draw();
  }

  /** Play from one square to another, if that is legal; asks for the piece of a promotion. */
  async play(origin, target, isDropped = false) {
    const { moves, own, side } = this.view;
    this.selected = "";
    if (!moves.length) {
      this.premove = own && this.targets(origin).includes(target) ? origin + target : "";
      this.draw();
      return;
    }
    const found = moves.filter((move) => move.startsWith(origin + target));
    this.draw();
    if (!found.length) return;
    let [move] = found;
    if (found.length > 1) {
      const chosen = await this.promotion(side, target);
      if (!chosen) return;
      move = origin + target + chosen;
    }
    if (this.press?.square === origin) this.drop(); // the keyboard has moved what the mouse holds
    // Shown at once; what Moff sends then is the same, or undoes it.
    const before = this.pieces;
    this.pieces = moved(before, move);
    this.view = { ...this.view, moves: [], last: [origin, target], check: "", glyph: "" };
    this.draw();
    if (!isDropped) this.glide(before);
    this.onMove(move);
  }

  playPremove() {
    const move = this.premove;
    this.premove = "";
    const found = this.view.moves.filter((legal) => legal.startsWith(move));
    if (!found.length) return;
    // Promote to a queen, as there is no time to ask.
    const chosen = found.find((legal) => legal.endsWith("q")) ?? found[0];
    this.pieces = moved(this.pieces, chosen);
    this.view = { ...this.view, moves: [], last: [chosen.slice(0, 2), chosen.slice(2, 4)], check: "", glyph: "" };
    this.onMove(chosen);
  }

  /** Take back what was chosen or entered, but not played yet. */
  cancel() {
    this.premove = "";
    this.select("");
  }

  /** Show again what was sent last, after a move was refused. */
  refuse(view) {
    this.view = null;
    this.show(view);
  }

  /** A square was clicked or confirmed. */
  choose(square) {
    if (this.isEditing) {
      this.paint(square);
      return;
    }
    const wasPremove = this.premove !== "";
    this.premove = "";
    if (this.selected && this.targets(this.selected).includes(square)) this.play(this.selected, square);
    else this.select(square !== this.selected && !wasPremove && this.targets(square).length ? square : "");
  }

  /** In the editor: put the chosen piece on a square, or take it off. */
  paint(square) {
    if (!this.brush) return;
    if (this.brush === "x" || this.pieces[square] === this.brush) delete this.pieces[square];
    else this.pieces[square] = this.brush;
    this.draw();
    this.onEdit(this.pieces);
  }

  // Mouse and touch.

  squareAt(event) {
    const box = this.root.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * 8);
    const row = Math.floor(((event.clientY - box.top) / box.height) * 8);
    if (column < 0 || column > 7 || row < 0 || row > 7) return "";
    return this.isFlipped ? FILES[7 - column] + (row + 1) : FILES[column] + (8 - row);
  }

  begin(event) {
    if (!event.isPrimary || !this.view || event.button === 1) return;
    const square = this.squareAt(event);
    if (!square) return;
    event.preventDefault();
    this.drop();
    if (event.button === 0) this.focus(this.cells.get(square));
    this.press = { square, x: event.clientX, y: event.clientY, ghost: null, pen: "", over: square };
    if (this.isEditing) {
      if (event.button === 2) this.press = null;
    } else if (event.button === 2 && this.premove) {
      this.cancel();
    } else if (event.button === 2 || this.pen) {
      this.press.pen = this.pen || penOf(event);
      this.showArrows();
    } else if (event.pointerType === "touch" && !(this.view.isPlaying && this.targets(square).length)) {
      // In a game, who thinks with the finger on a piece wants to move it.
      this.press.timer = setTimeout(() => {
        if (!this.press || this.press.ghost) return;
        this.press.pen = "green";
        this.showArrows();
        navigator.vibrate?.(15);
      }, LONG_PRESS);
    }
  }

  /** Take a new piece into the hand, in the editor. */
  lift(event, letter) {
    event.preventDefault();
    this.drop();
    this.press = { square: "", x: event.clientX, y: event.clientY, ghost: null, pen: "", letter };
  }

  drag(event) {
    const { press } = this;
    if (!press || !event.isPrimary) return;
    if (press.pen) {
      const over = this.squareAt(event);
      if (over !== press.over) {
        press.over = over;
        this.showArrows();
      }
      return;
    }
    const letter = press.letter ?? this.pieces[press.square];
    if (!press.ghost) {
      if (!isFar(press, event)) return;
      clearTimeout(press.timer);
      if (!letter || (!this.isEditing && !this.targets(press.square).length)) return;
      if (press.square && !this.isEditing) this.select(press.square);
      press.ghost = piece(letter);
      press.ghost.classList.add("ghost");
      press.ghost.style.width = press.ghost.style.height = `${this.root.clientWidth / 8}px`;
      if (press.square) this.cells.get(press.square).classList.add("lifted");
      document.body.append(press.ghost);
    }
    press.ghost.style.left = `${event.clientX}px`;
    press.ghost.style.top = `${event.clientY}px`;
    const over = this.squareAt(event);
    for (const [square, cell] of this.cells) cell.classList.toggle("over", square === over);
  }

  end(event) {
    if (!event.isPrimary || !this.press) return; // another finger
    const { press } = this;
    this.drop();
    const square = this.squareAt(event);
    if (press.pen) {
      if (square) this.toggleShape(press.pen, press.square, square);
      this.showArrows();
    } else if (this.isEditing) {
      this.place(press, square);
    } else if (!press.ghost) {
      if (square === press.square || !isFar(press, event)) this.choose(press.square);
      else if (this.targets(press.square).includes(square)) this.play(press.square, square);
    } else if (square && square !== press.square) {
      this.play(press.square, square, true);
    }
  }

  /** In the editor: put down what is in the hand. */
  place(press, square) {
    if (!press.ghost) {
      if (press.square) this.paint(press.square);
      return;
    }
    const letter = press.letter ?? this.pieces[press.square];
    if (press.square) delete this.pieces[press.square];
    if (square) this.pieces[square] = letter;
    this.draw();
    this.onEdit(this.pieces);
  }

  /** Draw a shape, or take it away if it is there. */
  toggleShape(colour, origin, target) {
    const is = ([, from, to]) => from === origin && to === target;
    const there = this.view.shapes.find(is);
    const shapes = this.view.shapes.filter((other) => !is(other));
    if (there?.[0] !== colour) shapes.push([colour, origin, target]);
    this.view.shapes = shapes;
    this.onShapes(shapes);
  }

  /** Let go of what is in the hand. */
  drop() {
    clearTimeout(this.press?.timer);
    this.press?.ghost?.remove();
    this.press = null;
    for (const cell of this.cells.values()) cell.classList.remove("over", "lifted");
  }

  /** Ask for the piece of a promotion, beside its square; returns its letter, "" if none was chosen. */
  promotion(side, target) {
    return new Promise((resolve) => {
      const cell = this.cells.get(target).getBoundingClientRect();
      const box = this.root.getBoundingClientRect();
      const isTop = cell.top - box.top < box.height / 2;
      // The click of the tap that opened this must not choose or close anything.
      let isPressed = false;
      const choices = ["q", "r", "b", "n"].map((letter) => {
        const shown = side === "White" ? letter.toUpperCase() : letter;
        const choose = (event) => (isPressed || !event.detail) && dialog.close(letter);
        return element(
          "button",
          { type: "button", "aria-label": pieceName(shown), "data-choice": letter, onclick: choose },
          piece(shown),
        );
      });
      const dialog = element("dialog", { id: "promotion", "aria-label": TEXTS.promoteTo }, ...choices);
      dialog.style.setProperty("--side", `${cell.width}px`);
      dialog.style.left = `${cell.left}px`;
      dialog.style.top = `${isTop ? cell.top : cell.bottom - 4 * cell.width}px`;
      dialog.addEventListener("pointerdown", (event) => {
        isPressed = true;
        if (event.target === dialog) dialog.close("");
      });
      dialog.addEventListener("close", () => {
        dialog.remove();
        resolve(dialog.returnValue);
      });
      document.body.append(dialog);
      dialog.showModal();
      // Elsewhere on the screen, or in another position, it would stand in the wrong place.
      this.chooser = dialog;
      window.addEventListener("resize", () => dialog.close(""), { once: true });
    });
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
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Whether the pointer has moved too far since it was pressed to count as a click. */
function isFar(press, event) {
  return Math.hypot(event.clientX - press.x, event.clientY - press.y) > FAR;
}

/** The colour of what the right button draws. */
function penOf(event) {
  if (event.shiftKey) return event.altKey ? "yellow" : "red";
  return event.altKey ? "blue" : "green";
}

/** Where a piece could go on an empty board, captures and castling included. */
function reach(letter, square) {
  const kind = letter.toUpperCase();
  const [x, y] = [FILES.indexOf(square[0]), Number(square[1])];
  const forward = letter === "P" ? 1 : -1;
  const fits = (dx, dy) => {
    const [across, up] = [Math.abs(dx), Math.abs(dy)];
    if (!across && !up) return false;
    const isStraight = !across || !up;
    const isDiagonal = across === up;
    if (kind === "N") return across * up === 2;
    if (kind === "K") return (across <= 1 && up <= 1) || (!up && square[0] === "e" && (y === 1 || y === 8) && across > 1);
    if (kind === "P") return (across <= 1 && dy === forward) || (!across && dy === 2 * forward && y === (forward > 0 ? 2 : 7));
    return (isStraight && kind !== "B") || (isDiagonal && kind !== "R");
  };
  const found = [];
  for (let file = 0; file < 8; file++) {
    for (let rank = 1; rank <= 8; rank++) if (fits(file - x, rank - y)) found.push(FILES[file] + rank);
  }
  return found;
}

function coordinate(kind, text) {
  return element("span", { class: `coordinate ${kind}`, "aria-hidden": "true" }, text);
}

function mark(glyph) {
  return element("span", { class: "mark", "data-glyph": glyph, "aria-hidden": "true" }, glyph);
}
