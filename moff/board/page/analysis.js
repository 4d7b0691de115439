// What the engine says of the position: lines, bar, threat.

import { attempt } from "./complaint.js";
import { command } from "./connection.js";
import { byId, element, number, tell } from "./dom.js";
import { moveText } from "./pieces.js";

/** Let the switches work; `current()` is the number of the move that the board shows. */
export function setUpAnalysis(current) {
  const wanted = () => ({
    on: byId("engine-on").checked,
    lines: Number(byId("engine-lines").value),
    threat: byId("engine-threat").checked,
  });
  for (const id of ["engine-on", "engine-lines", "engine-threat"]) {
    byId(id).addEventListener("change", () => attempt(() => command("engine", wanted())));
  }
  byId("promote").addEventListener("click", () => attempt(() => command("promote", { node: current() })));
  byId("delete").addEventListener("click", () => attempt(() => command("delete", { node: current() })));
}

/** Show how the engine is set. */
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
  byId("lines").replaceChildren(
    ...lines.lines.map((line, index) =>
      element(
        "li",
        {},
        element("strong", { class: "score" }, line.score),
        " ",
        ...line.moves.flatMap((move, ply) => [
          element(
            "button",
            {
              type: "button",
              class: "move",
              onclick: () => attempt(() => command("follow", { line: index + 1, plies: ply + 1 })),
            },
            move.turn ? `${move.turn} ` : "",
            moveText(move.san),
          ),
          " ",
        ]),
        element("span", { class: "quiet" }, `depth ${line.depth}`),
      ),
    ),
  );
  showThreat(lines.threat);
  showBar(lines.bar);
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
