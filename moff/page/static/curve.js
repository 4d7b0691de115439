// The curve of White's win probability along the main line.

import { drawing, element } from "./dom.js";
import { TEXTS } from "./texts.js";

const WIDTH = 1000;
const HEIGHT = 200;

export class Curve {
  /** `onChoose(node)` is called with the number of the move where the curve was pressed. */
  constructor(place, onChoose) {
    this.place = place;
    this.onChoose = onChoose;
    this.main = [];
    this.area = drawing("path", { class: "white" });
    this.line = drawing("path", { class: "line" });
    this.marks = drawing("g", {});
    this.here = drawing("path", { class: "here" });
    this.svg = drawing(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      this.area,
      drawing("path", { class: "half", d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
      this.line,
      this.marks,
      this.here,
    );
    const attributes = { class: "curve", role: "slider", tabindex: 0, "aria-label": TEXTS.curve, "aria-valuemin": 0 };
    this.slider = element("div", attributes, this.svg);
    place.append(this.slider);
    this.slider.addEventListener("pointerdown", (event) => {
      this.slider.setPointerCapture(event.pointerId);
      this.choose(event);
    });
    this.slider.addEventListener("pointermove", (event) => event.buttons && this.choose(event));
  }

  choose(event) {
    const box = this.slider.getBoundingClientRect();
    const index = Math.round(((this.main.length - 1) * (event.clientX - box.left)) / box.width);
    const move = this.main[Math.max(0, Math.min(this.main.length - 1, index))];
    if (move && move.node !== this.chosen) this.onChoose(move.node);
    this.chosen = move?.node;
  }

  /** Draw the main line of a tree; it is hidden with fewer than two evaluations. */
  draw(tree) {
    this.main = tree.main;
    const known = this.main.flatMap((move, index) => (move.eval ? [[index, move.eval.share]] : []));
    this.place.hidden = known.length < 2;
    if (this.place.hidden) return;
    const points = known.map(([index, share]) => `${this.x(index)} ${y(share)}`);
    const [first, last] = [this.x(known[0][0]), this.x(known.at(-1)[0])];
    this.line.setAttribute("d", `M${points.join("L")}`);
    this.area.setAttribute("d", `M${first} ${HEIGHT}L${points.join("L")}L${last} ${HEIGHT}z`);
    this.marks.replaceChildren(
      ...this.main.flatMap((move, index) =>
        move.eval && ["?!", "?", "??"].includes(move.glyph)
          ? [drawing("path", { d: `M${this.x(index)} ${y(move.eval.share)}h0.01`, "data-glyph": move.glyph })]
          : [],
      ),
    );
    this.slider.setAttribute("aria-valuemax", String(this.main.length - 1));
  }

  /** Mark the position on the board. */
  mark(node) {
    const index = this.main.findIndex((move) => move.node === node);
    this.chosen = node;
    this.here.setAttribute("d", index < 0 ? "" : `M${this.x(index)} 0V${HEIGHT}`);
    const move = this.main[Math.max(0, index)];
    if (!move) return;
    this.slider.setAttribute("aria-valuenow", String(Math.max(0, index)));
    this.slider.setAttribute("aria-valuetext", TEXTS.curveAt(`${move.turn} ${move.san}`.trim(), move.eval?.text));
  }

  x(index) {
    return ((WIDTH * index) / Math.max(1, this.main.length - 1)).toFixed(1);
  }
}

const y = (share) => (HEIGHT - (HEIGHT * share) / 1000).toFixed(1);
