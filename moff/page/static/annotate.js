// Comments, marks, and the tool for drawing on the board.

import { attempt } from "./complaint.js";
import { send } from "./connection.js";
import { element } from "./dom.js";
import { TEXTS } from "./texts.js";

/** The form for the comment and the mark of a move. */
export class Annotation {
  /** `onChange(name)` is called to promote or delete the line that the move begins. */
  constructor(place, onChange) {
    this.place = place;
    this.node = -1;
    this.title = element("label", { for: "comment-text" });
    this.text = element("textarea", { id: "comment-text", rows: 3, onchange: () => this.save() });
    this.marks = Object.entries(TEXTS.marks).map(([glyph, name]) =>
      element("button", { type: "button", class: "glyph-button", "data-glyph": glyph, "aria-label": name, title: name, onclick: () => this.mark(glyph) }, glyph),
    );
    this.buttons = element("div", { class: "row", role: "group", "aria-label": TEXTS.mark },
      ...this.marks,
      element("button", { type: "button", id: "promote", title: TEXTS.promoteTitle, onclick: () => onChange("promote") }, TEXTS.promote),
      element("button", { type: "button", id: "delete", title: TEXTS.removeTitle, onclick: () => onChange("delete") }, TEXTS.remove));
    place.append(this.title, this.text, this.buttons);
  }

  /** Show a move of the tree. */
  show(move) {
    for (const button of this.marks) button.setAttribute("aria-pressed", String(button.dataset.glyph === move.glyph));
    this.buttons.hidden = move.node === 0;
    if (move.node === this.node && document.activeElement === this.text) return;
    if (this.node !== move.node && document.activeElement === this.text) this.save();
    this.node = move.node;
    this.title.textContent = TEXTS.commentOn(`${move.turn} ${move.san}`.trim());
    this.text.value = move.comment ?? "";
  }

  save() {
    attempt(() => send("annotate", { node: this.node, comment: this.text.value }));
  }

  mark(glyph) {
    const isSet = this.marks.find((button) => button.dataset.glyph === glyph).getAttribute("aria-pressed") === "true";
    attempt(() => send("annotate", { node: this.node, glyph: isSet ? "" : glyph }));
  }
}

/** The pens of the drawing tool; `onPen(colour)` is called with the one chosen, "" for none. */
export function drawingTool(place, onPen, onClear) {
  const pens = Object.entries(TEXTS.colours).map(([colour, name]) => {
    const pen = element(
      "button",
      { type: "button", class: "pen", "data-colour": colour, "aria-pressed": "false", "aria-label": name, title: name,
        onclick: () => choose(isPutDown(pen) ? "" : colour) },
    );
    return pen;
  });
  // In full screen the tool is always open: there the chosen pen is put down by another click.
  const isPutDown = (pen) => document.body.classList.contains("teach") && pen.getAttribute("aria-pressed") === "true";
  const choose = (colour) => {
    for (const pen of pens) pen.setAttribute("aria-pressed", String(pen.dataset.colour === colour));
    onPen(colour);
  };
  place.append(
    element("p", { class: "quiet" }, TEXTS.drawHelp),
    element("div", { class: "row" }, ...pens, element("button", { type: "button", id: "clear-shapes", onclick: onClear }, TEXTS.clear)),
  );
  return choose;
}
