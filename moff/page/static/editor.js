// The board editor: pieces are dragged in and out, the other fields of the FEN are set beside.

import { attempt } from "./complaint.js";
import { send } from "./connection.js";
import { element, iconButton } from "./dom.js";
import { piece, pieceName, placement, written } from "./pieces.js";
import { TEXTS } from "./texts.js";

const START_PIECES = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

export class Editor {
  /** `onEnd(isSetUp)` is called when the editor is left. */
  constructor(place, board, onEnd) {
    this.place = place;
    this.board = board;
    this.onEnd = onEnd;
    this.complaint = element("p", { class: "complaint", role: "alert", hidden: true, id: "editor-complaint" });
    this.side = element("select", { id: "edit-side", onchange: () => this.show() },
      element("option", { value: "w" }, TEXTS.white), element("option", { value: "b" }, TEXTS.black));
    this.castling = Object.entries(TEXTS.castles).map(([right, text]) => {
      const box = element("input", { type: "checkbox", value: right, onchange: () => this.show() });
      return element("label", { class: "check" }, box, text);
    });
    const files = [..."abcdefgh"];
    this.enPassant = element("select", { id: "edit-en-passant", onchange: () => this.show() },
      element("option", { value: "-" }, TEXTS.none), ...files.map((file) => element("option", { value: file }, file)));
    this.fen = element("input", { id: "edit-fen", spellcheck: "false", autocomplete: "off", onchange: () => this.read(this.fen.value) });
    const palette = (letters) =>
      element("div", { class: "palette" }, ...letters.map((letter) => this.spare(letter)));
    const eraser = iconButton("eraser", "delete", TEXTS.eraser, () => this.choose("x", eraser));
    place.append(
      element("h2", {}, TEXTS.editor),
      element("p", { class: "quiet" }, TEXTS.editHelp),
      palette([..."KQRBNP"]),
      palette([..."kqrbnp"]),
      element("div", { class: "row" },
        element("button", { type: "button", onclick: () => this.read(`${START_PIECES} w KQkq - 0 1`) }, TEXTS.startPosition),
        element("button", { type: "button", onclick: () => this.read("8/8/8/8/8/8/8/8 w - - 0 1") }, TEXTS.emptyBoard),
        eraser),
      element("div", { class: "settings" },
        element("label", {}, TEXTS.toMove, this.side),
        element("label", {}, TEXTS.enPassant, this.enPassant)),
      element("fieldset", { class: "row" }, element("legend", {}, TEXTS.castling), ...this.castling),
      element("label", { class: "wide" }, "FEN", this.fen),
      this.complaint,
      element("div", { class: "row" },
        element("button", { type: "button", class: "primary", id: "edit-done", onclick: () => this.finish() }, TEXTS.setUp),
        element("button", { type: "button", id: "edit-cancel", onclick: () => this.end(false) }, TEXTS.cancel)),
    );
  }

  spare(letter) {
    const button = element(
      "button",
      { type: "button", class: "spare", "aria-label": pieceName(letter), "aria-pressed": "false", "data-spare": letter,
        onpointerdown: (event) => this.board.lift(event, letter), onclick: () => this.choose(letter, button) },
      piece(letter),
    );
    return button;
  }

  choose(brush, button) {
    const isChosen = this.board.brush === brush;
    this.board.brush = isChosen ? "" : brush;
    for (const other of this.place.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(!isChosen));
  }

  /** Begin with a position. */
  begin(fen) {
    this.place.hidden = false;
    this.board.edit(true);
    this.read(fen);
  }

  /** Show a FEN in the fields and on the board. */
  read(fen) {
    const [pieces, side = "w", castling = "-", passed = "-", ...counters] = fen.trim().split(/\s+/);
    this.counters = counters.join(" ") || "0 1";
    this.side.value = side === "b" ? "b" : "w";
    for (const label of this.castling) {
      const box = label.querySelector("input");
      box.checked = castling.includes(box.value);
    }
    this.enPassant.value = passed[0] >= "a" && passed[0] <= "h" ? passed[0] : "-";
    this.board.edit(true, placement(pieces));
    this.show();
  }

  /** Show the FEN of the fields. */
  show() {
    const rights = this.castling.map((label) => label.querySelector("input")).filter((box) => box.checked);
    const passed = this.enPassant.value === "-" ? "-" : this.enPassant.value + (this.side.value === "w" ? "6" : "3");
    const castling = rights.map((box) => box.value).join("") || "-";
    this.fen.value = `${written(this.board.pieces)} ${this.side.value} ${castling} ${passed} ${this.counters}`;
  }

  async finish() {
    if (await attempt(() => send("set_up", { text: this.fen.value }), this.complaint)) this.end(true);
  }

  end(isSetUp) {
    this.place.hidden = true;
    this.complaint.hidden = true;
    this.board.edit(false);
    this.onEnd(isSetUp);
  }
}
