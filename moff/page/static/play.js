// The game: its players, clocks and commands.

import { command } from "./connection.js";
import { byId } from "./dom.js";
import { attempt } from "./complaint.js";

const TICK = 100; // milliseconds

let shown = null;
let since = 0;

/** Set up the buttons and the form. */
export function setUpPlay() {
  const commands = {
    "take-back": ["take_back"],
    redo: ["redo"],
    hint: ["hint"],
    "move-now": ["move_now"],
    draw: ["draw"],
    resign: ["resign"],
    analyse: ["mode", { mode: "analysis", game: true }],
  };
  for (const [id, [name, values]] of Object.entries(commands)) {
    byId(id).addEventListener("click", () => attempt(() => command(name, values)));
  }
  const form = byId("new-game");
  form.elements.strength.addEventListener("change", () => {
    form.elements.elo.disabled = form.elements.strength.value !== "elo";
  });
  form.elements.variant.addEventListener("change", () => {
    form.elements.number.disabled = form.elements.variant.value !== "chess960";
  });
  const begin = (here) => {
    const { colour, strength, elo, clock, variant, number } = form.elements;
    const values = { colour: colour.value, clock: clock.value, chess960: variant.value === "chess960", here };
    if (strength.value === "elo") values.elo = elo.valueAsNumber;
    if (values.chess960 && number.value !== "") values.number = number.valueAsNumber;
    return attempt(() => command("new_game", values));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(false);
  });
  byId("play-here").addEventListener("click", () => begin(true));
  setInterval(showClocks, TICK);
}

/** Show the game in a state of the tab. */
export function showPlay(state) {
  shown = state;
  since = performance.now();
  const { game } = state;
  const isPlaying = state.mode === "play";
  const may = {
    "take-back": game.moves > 0 || game.over,
    redo: !game.over && !game.thinking,
    hint: !game.over && !game.thinking,
    "move-now": game.thinking,
    draw: !game.over,
    resign: !game.over && game.persons.length > 0,
    analyse: true,
  };
  for (const [id, can] of Object.entries(may)) byId(id).disabled = !(isPlaying && can);
  const bottom = state.flipped ? 1 : 0;
  for (const [id, side] of [["below", bottom], ["above", 1 - bottom]]) {
    const place = byId(id);
    place.hidden = !isPlaying;
    const limit = game.elo && !game.persons.includes(["White", "Black"][side]) ? ` (Elo ${game.elo})` : "";
    place.querySelector(".name").textContent = game.names[side] + limit;
    place.classList.toggle("to-move", isPlaying && !game.over && state.side === ["White", "Black"][side]);
    place.dataset.side = side;
  }
  showClocks();
}

function showClocks() {
  if (!shown) return;
  const { clocks, running } = shown.game;
  for (const id of ["below", "above"]) {
    const place = byId(id);
    const side = Number(place.dataset.side);
    const clock = place.querySelector(".clock");
    let left = clocks[side];
    clock.hidden = left === null;
    if (left === null) continue;
    const isRunning = running === ["White", "Black"][side];
    if (isRunning) left -= performance.now() - since;
    clock.classList.toggle("running", isRunning);
    const text = clockText(Math.max(0, left));
    if (clock.textContent !== text) clock.textContent = text;
  }
}

function clockText(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 20) return seconds.toFixed(1);
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
