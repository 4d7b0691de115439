// The engine's analysis of the position: lines, bar, threat.

import { attempt } from "./complaint.js";
import { command } from "./connection.js";
import { byId, element, number, tell } from "./dom.js";
import { moveText } from "./pieces.js";

/** Set up the switches; `current()` is the number of the move on the board, or of the one just chosen. */
export function setUpAnalysis(current) {
  // One setting each: what the other controls show may be older than the last click on them.
  const wanted = {
    "engine-on": (control) => ({ on: control.checked }),
    "engine-lines": (control) => ({ lines: Number(control.value) }),
    "engine-threat": (control) => ({ threat: control.checked }),
  };
  for (const [id, value] of Object.entries(wanted)) {
    byId(id).addEventListener("change", (event) => attempt(() => command("engine", value(event.target))));
  }
  byId("lines").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { node } = byId("lines").dataset;
    attempt(() => command("follow", { node: Number(node), moves: button.dataset.moves }));
  });
  byId("promote").addEventListener("click", () => attempt(() => command("promote", { node: current() })));
  byId("delete").addEventListener("click", () => attempt(() => command("delete", { node: current() })));
}

/** Show the engine's settings. */
export function showEngine(state) {
  byId("engine-on").checked = state.engine.on;
  byId("engine-lines").value = String(state.engine.lines);
  byId("engine-threat").checked = state.engine.threat;
  byId("promote").disabled = byId("delete").disabled = state.node === 0;
  tell(byId("verdict"), state.verdict);
}

/** Show the lines. */
export function showLines(lines) {
  const counts = lines.nodes
    ? `depth ${lines.depth}, ${number(lines.nodes)} nodes, ${number(lines.speed)} nodes/s`
    : "";
  byId("counts").textContent = lines.on ? counts || "thinking …" : "";
  byId("thinking").textContent = !lines.on && counts ? `The engine's last search: ${counts}` : "";
  byId("lines").dataset.node = lines.node;
  resize(byId("lines"), lines.lines.length, () => [
    element("li", {}, element("strong", { class: "score" }), " ", element("span"), element("span", { class: "quiet" })),
  ]);
  lines.lines.forEach((line, index) => showLine(byId("lines").children[index], line));
  showThreat(lines.threat);
  showBar(lines.bar);
}

function showLine(item, line) {
  const [score, moves, depth] = item.children;
  score.textContent = line.score;
  resize(moves, line.moves.length, () => [element("button", { type: "button", class: "move" }), " "]);
  line.moves.forEach((move, ply) => {
    const button = moves.children[ply];
    button.dataset.moves = line.moves.slice(0, ply + 1).map(({ san }) => san).join(" ");
    button.replaceChildren(move.turn ? `${move.turn} ` : "", moveText(move.san));
  });
  depth.textContent = `depth ${line.depth}`;
}

/** Give a place `count` parts, keeping existing ones: removing them would lose the focus, and a click between
 * press and release. `made()` returns the nodes of a part, an element first.
 */
function resize(place, count, made) {
  while (place.children.length > count) {
    while (place.lastChild !== place.lastElementChild) place.lastChild.remove();
    place.lastElementChild.remove();
  }
  while (place.children.length < count) place.append(...made());
}

function showThreat(threat) {
  const place = byId("threat");
  place.hidden = threat === null;
  if (threat === null) return;
  if (typeof threat === "string") {
    place.replaceChildren(`Threat: ${threat}`);
    return;
  }
  const moves = threat.moves.slice(0, 5).flatMap((move) => [" ", move.turn, move.turn ? " " : "", moveText(move.san)]);
  place.replaceChildren("Threat:", ...moves, ` (${threat.score})`);
}

function showBar(bar) {
  const place = byId("bar");
  place.hidden = bar === null;
  if (bar === null) return;
  place.setAttribute("aria-label", `Evaluation ${bar.text} for White`);
  place.style.setProperty("--share", `${bar.share / 10}%`);
  place.classList.toggle("low", bar.share < 500);
  byId("bar-text").textContent = bar.text;
}
