// The engine's analysis of the position: its switch, lines with small boards, the bar, book and tablebase.

import { attempt } from "./complaint.js";
import { send } from "./connection.js";
import { byId, element, iconButton, number, resize } from "./dom.js";
import { moved, moveText, smallBoard } from "./pieces.js";
import { TEXTS } from "./texts.js";

const MOST = 5;

export class EnginePanel {
  /** `position()` is what the board shows. */
  constructor(place, position) {
    this.place = place;
    this.position = position;
    this.shown = null;
    this.count = 3;
    this.end = "";
    const set = (values) => attempt(() => send("engine", values));
    this.toggle = element(
      "button",
      { type: "button", class: "switch", id: "engine-on", role: "switch", "aria-checked": "false",
        onclick: () => set({ on: this.toggle.getAttribute("aria-checked") !== "true" }) },
      element("span", { class: "knob", "aria-hidden": "true" }),
      element("span", {}, TEXTS.engine),
    );
    this.score = element("strong", { id: "engine-score" });
    this.effort = element("span", { id: "effort", class: "quiet" });
    this.threat = iconButton("engine-threat", "threat", TEXTS.threat, () =>
      set({ threat: this.threat.getAttribute("aria-pressed") !== "true" }),
    );
    this.fewer = iconButton("fewer", "minus", TEXTS.fewer, () => set({ lines: this.count - 1 }));
    this.more = iconButton("more", "add", TEXTS.more, () => set({ lines: this.count + 1 }));
    this.list = element("ol", { id: "lines", "aria-label": TEXTS.linesLabel });
    this.preview = element("div", { id: "preview", hidden: true });
    this.threatLine = element("p", { id: "threat", hidden: true });
    this.known = element("div", { id: "known", hidden: true });
    place.append(
      element("div", { class: "engine-head" }, this.toggle, this.score, this.effort, this.threat, this.fewer, this.more),
      this.list,
      this.preview,
      this.threatLine,
      this.known,
    );
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) attempt(() => send("follow", { node: Number(this.list.dataset.node), moves: button.dataset.moves }));
    });
    for (const kind of ["pointerover", "focusin"]) this.list.addEventListener(kind, (event) => this.look(event));
    for (const kind of ["pointerleave", "focusout", "pointercancel"]) {
      this.list.addEventListener(kind, () => (this.preview.hidden = true));
    }
  }

  /** Show the settings in a state of the tab. */
  showState(state) {
    const { on, lines, threat } = state.engine;
    this.count = lines;
    this.end = state.end;
    this.toggle.setAttribute("aria-checked", String(on));
    this.threat.setAttribute("aria-pressed", String(threat));
    this.fewer.disabled = lines <= 1;
    this.more.disabled = lines >= MOST;
    this.showKnown(state);
  }

  /** Show the lines. */
  show(lines) {
    this.shown = lines;
    this.list.dataset.node = lines.node;
    this.score.textContent = lines.on && lines.bar ? lines.bar.text : "";
    const busy = lines.nodes ? TEXTS.depth(lines.depth, number(lines.speed)) : this.end || TEXTS.waiting;
    this.effort.textContent = lines.on ? busy : TEXTS.engineOff;
    this.effort.classList.toggle("off", !lines.on);
    // As many rows as lines are wanted, so that nothing below jumps.
    this.list.hidden = !lines.on;
    resize(this.list, lines.on ? Math.max(this.count, lines.lines.length) : 0, () => [
      element("li", {}, element("strong", { class: "score" }), element("span", { class: "line" })),
    ]);
    for (const [index, item] of [...this.list.children].entries()) showLine(item, lines.lines[index]);
    this.threatLine.hidden = lines.threat === null;
    if (typeof lines.threat === "string") this.threatLine.replaceChildren(`${TEXTS.threatIs} ${lines.threat}`);
    else if (lines.threat) {
      const moves = lines.threat.moves.slice(0, 5).flatMap((move) => [" ", move.turn, move.turn ? " " : "", moveText(move.san)]);
      this.threatLine.replaceChildren(TEXTS.threatIs, ...moves, ` (${lines.threat.score})`);
    }
  }

  /** Show the position after a move of a line. */
  look(event) {
    const button = event.target.closest("button");
    if (!button || !this.shown) return;
    const line = this.shown.lines[Number(button.dataset.line)];
    const ply = Number(button.dataset.ply);
    if (!line?.moves[ply]) return;
    const view = this.position();
    let { pieces } = view;
    for (const { uci } of line.moves.slice(0, ply + 1)) pieces = moved(pieces, uci);
    const { uci } = line.moves[ply];
    this.preview.replaceChildren(smallBoard(pieces, [uci.slice(0, 2), uci.slice(2, 4)], view.flipped));
    this.preview.hidden = false;
  }

  /** Show the moves of the book and of the tablebases. */
  showKnown({ book, tables, node, side }) {
    const play = (uci) => () => attempt(() => send("follow", { node, moves: uci }));
    const parts = [];
    if (tables.length) {
      const rows = tables.map(({ san, uci, result, dtz }) =>
        element("button", { type: "button", class: "known", onclick: play(uci) },
          moveText(san), element("span", { class: "quiet" }, ` ${TEXTS.tables[result]}${dtz ? ` (${TEXTS.dtz(dtz)})` : ""}`)),
      );
      parts.push(element("p", {}, element("strong", {}, TEXTS.tableVerdict(tables[0].result, side))), ...rows);
    }
    if (book.length) {
      const rows = book.map(({ san, uci, share }) =>
        element("button", { type: "button", class: "known", onclick: play(uci) },
          moveText(san), element("span", { class: "quiet" }, ` ${share} %`)),
      );
      parts.push(element("p", {}, element("strong", {}, TEXTS.bookMoves)), ...rows);
    }
    this.known.hidden = !parts.length;
    const text = JSON.stringify([book, tables, node]);
    if (this.knownText !== text) this.known.replaceChildren(...parts);
    this.knownText = text;
  }
}

function showLine(item, line) {
  const [score, moves] = item.children;
  score.textContent = line?.score ?? "";
  resize(moves, line?.moves.length ?? 0, () => [element("button", { type: "button", class: "move" }), " "]);
  line?.moves.forEach((move, ply) => {
    const button = moves.children[ply];
    button.dataset.moves = line.moves.slice(0, ply + 1).map(({ uci }) => uci).join(" ");
    button.dataset.line = [...item.parentNode.children].indexOf(item);
    button.dataset.ply = ply;
    button.replaceChildren(move.turn ? `${move.turn} ` : "", moveText(move.san));
  });
}

/** Show the evaluation bar: {text, share}, or null without an evaluation. */
export function showBar(bar) {
  const place = byId("bar");
  place.classList.toggle("unknown", bar === null);
  place.setAttribute("aria-label", TEXTS.evaluation(bar?.text ?? "–"));
  place.style.setProperty("--share", `${bar ? bar.share / 10 : 50}%`);
  place.classList.toggle("low", bar !== null && bar.share < 500);
  byId("bar-text").textContent = bar ? shortened(bar.text) : "";
}

/** A score for the bar: a tenth of a pawn is enough. */
function shortened(text) {
  if (text.includes("#")) return text;
  const value = Number(text);
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(Math.abs(value) < 10 ? 1 : 0)}`;
}

