// The game: its players, clocks, captured pieces and commands, and the form for a new one.

import { attempt } from "./complaint.js";
import { send } from "./connection.js";
import { byId, command, confirmed, element, sheet, tell } from "./dom.js";
import { material, piece } from "./pieces.js";
import { TEXTS } from "./texts.js";

const TICK = 100; // milliseconds
const SIDES = ["White", "Black"];
const CLOCKS = ["", "60", "180+2", "300+3", "600+5", "1800+20", "own"];

let shownGame = null;
let since = 0;
let lastGame = { colour: "white" };

/** A row above or below the board: a player, what the side has captured, and its clock. */
export function playerRow(id) {
  return element(
    "div",
    { class: "player", id },
    element("span", { class: "name" }),
    element("span", { class: "captured" }),
    element("span", { class: "clock", role: "timer" }),
  );
}

/** Set up the panel; `review()` begins a review of the game. */
export function setUpPlay(panel, review) {
  const run = (name, values) => () => attempt(() => send(name, values));
  const resign = async () => {
    if (await confirmed(TEXTS.resignQuestion, TEXTS.yesResign, TEXTS.noPlay)) await attempt(() => send("resign"));
  };
  const analyse = async () => {
    if (await attempt(() => send("mode", { mode: "analysis", game: true }))) await attempt(() => send("engine", { on: true }));
  };
  panel.append(
    element("p", { id: "turn" }),
    element("div", { class: "slot" }),
    element(
      "div",
      { class: "commands", role: "group", "aria-label": TEXTS.play },
      command("new-game", "add", TEXTS.newGame, askForGame),
      command("rematch", "rematch", TEXTS.rematch, rematch),
      command("take-back", "back", TEXTS.takeBack, run("take_back")),
      command("redo", "redo", TEXTS.redo, run("redo")),
      command("hint", "hint", TEXTS.hint, run("hint")),
      command("move-now", "now", TEXTS.moveNow, run("move_now")),
      command("draw", "half", TEXTS.offerDraw, run("draw")),
      command("resign", "flag", TEXTS.resign, resign),
      command("review-game", "review", TEXTS.reviewGame, review),
      command("analyse-game", "analyse", TEXTS.analyseGame, analyse),
    ),
  );
  setInterval(showClocks, TICK);
}

/** Show which commands of the game are possible in a state of the tab. */
export function showCommands(state) {
  const { game } = state;
  const isOpen = state.mode === "play" && !game.over;
  const may = {
    rematch: game.over,
    "take-back": game.moves > 0 || game.over,
    redo: isOpen && game.redo,
    hint: isOpen && !game.thinking,
    "move-now": isOpen && game.thinking,
    draw: isOpen && !game.thinking && game.moves > 0,
    resign: isOpen && game.persons.length > 0 && game.moves > 0,
    "review-game": game.moves > 0,
    "analyse-game": game.moves > 0,
  };
  for (const [id, can] of Object.entries(may)) byId(id).disabled = !can;
  byId("rematch").hidden = !game.over;
  for (const id of ["draw", "resign"]) byId(id).hidden = game.over;
  byId("hint").hidden = game.over || game.thinking;
  byId("move-now").hidden = game.over || !game.thinking;
  const isMine = game.persons.includes(state.side);
  const turn = game.thinking && !isMine ? TEXTS.thinking : game.persons.length === 2 ? TEXTS.sideToMove(state.side) : isMine ? TEXTS.yourMove : "";
  tell(byId("turn"), game.over ? state.end : turn);
}

/** Show the players, with what they have captured of the pieces, and their clocks. */
export function showPlayers(state, pieces, tree) {
  shownGame = state;
  since = performance.now();
  const { game } = state;
  const isPlaying = state.mode === "play";
  const { captured, ahead } = material(pieces);
  const bottom = state.flipped ? 1 : 0;
  for (const [id, side] of [["below", bottom], ["above", 1 - bottom]]) {
    const place = byId(id);
    place.dataset.side = side;
    place.querySelector(".name").textContent = isPlaying ? gameName(game, side) : tagName(tree, SIDES[side]);
    place.classList.toggle("to-move", state.side === SIDES[side] && !state.end);
    showCaptured(place.querySelector(".captured"), captured[SIDES[side]], side ? -ahead : ahead);
  }
  showClocks();
}

function gameName(game, side) {
  const isEngine = !game.persons.includes(SIDES[side]);
  const limit = isEngine && game.elo ? ` · ${game.level || TEXTS.elo(game.elo)}` : "";
  return game.names[side] + limit;
}

function tagName(tree, side) {
  const [name, elo] = [tree?.tags[side], tree?.tags[`${side}Elo`]];
  return name && name !== "?" ? name + (elo ? ` (${elo})` : "") : TEXTS[side.toLowerCase()];
}

function showCaptured(place, letters, ahead) {
  const text = letters.join("") + ahead;
  if (place.dataset.text === text) return;
  place.dataset.text = text;
  const points = ahead > 0 ? element("span", { class: "ahead" }, `+${ahead}`) : null;
  place.replaceChildren(...letters.map(piece), ...(points ? [points] : []));
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", `${TEXTS.captured}: ${letters.length}${ahead > 0 ? `, ${TEXTS.ahead(ahead)}` : ""}`);
}

function showClocks() {
  if (!shownGame) return;
  const { clocks, running } = shownGame.game;
  for (const id of ["below", "above"]) {
    const place = byId(id);
    const side = Number(place.dataset.side);
    const clock = place.querySelector(".clock");
    const noted = shownGame.mode === "play" ? null : shownGame.noted?.[side];
    let left = shownGame.mode === "play" ? clocks[side] : null;
    clock.hidden = left === null && !noted;
    if (noted) clock.textContent = noted;
    if (left === null) continue;
    const isRunning = running === SIDES[side];
    if (isRunning) left -= performance.now() - since;
    clock.classList.toggle("running", isRunning);
    clock.classList.toggle("short", isRunning && left < 20_000);
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

// A new game.

let dialog = null;

/** Build the form for a new game: `levels` are {name, elo, text}, the last one of full strength; `chosen` is the Elo
 * chosen at first, and an own one lies in a range.
 */
export function setUpNewGame(levels, chosen, [weakest, strongest]) {
  const radios = (name, values, chosen) =>
    element(
      "div",
      { class: "choices", role: "radiogroup", "aria-label": name },
      ...values.map(([value, ...content]) =>
        element("label", { class: "choice" },
          element("input", { type: "radio", name, value, checked: value === chosen }), element("span", {}, ...content)),
      ),
    );
  const field = (label, ...content) => element("fieldset", {}, element("legend", {}, label), ...content);
  const levelRow = ({ name, elo, text }) => [
    elo ?? "full",
    element("strong", {}, name), " ", element("span", { class: "quiet" }, elo ? TEXTS.elo(elo) : ""),
    element("span", { class: "sentence" }, text),
  ];
  const clockName = (text) => {
    if (!text) return TEXTS.noClock;
    if (text === "own") return TEXTS.ownClock;
    const [base, gain] = text.split("+");
    return gain ? `${base / 60} + ${gain}` : `${base / 60} min`;
  };
  const complaint = element("p", { class: "complaint", role: "alert", hidden: true });
  const form = element(
    "form",
    { id: "new-game-form", method: "dialog" },
    field(TEXTS.you, radios("colour", [["white", TEXTS.white], ["black", TEXTS.black], ["random", TEXTS.either], ["both", TEXTS.both]], "white")),
    field(TEXTS.level, radios("level", [...levels.map((level) => levelRow(level)), ["own", TEXTS.ownElo]], chosen),
      element("label", { class: "own" }, TEXTS.ownElo, element("input", { name: "elo", type: "number", value: 1500, step: 1, title: `${weakest}–${strongest}` }))),
    field(TEXTS.clock, radios("clock", CLOCKS.map((text) => [text, clockName(text)]), ""),
      element("div", { class: "own row" },
        element("label", {}, TEXTS.minutes, element("input", { name: "minutes", type: "number", min: 0.1, max: 999, step: "any", value: 15 })),
        element("label", {}, TEXTS.increment, element("input", { name: "increment", type: "number", min: 0, max: 999, step: "any", value: 10 })))),
    field(TEXTS.start, radios("start", [["standard", TEXTS.standard], ["chess960", TEXTS.chess960], ["here", TEXTS.thisPosition]], "standard"),
      element("label", { class: "own" }, TEXTS.position960, element("input", { name: "number", type: "number", step: 1, placeholder: TEXTS.random }))),
    complaint,
    element("button", { type: "submit", class: "primary", id: "begin" }, TEXTS.begin),
  );
  dialog = sheet("new-game-sheet", TEXTS.newGame, TEXTS.close, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!(await attempt(() => send("new_game", values(form)), complaint))) return;
    dialog.close();
    document.querySelector("#board [tabindex='0']").focus({ preventScroll: true });
  });
  // The own fields belong to the choice before them.
  form.addEventListener("change", () => markOwn(form));
  markOwn(form);
}

function markOwn(form) {
  const { level, clock, start } = form.elements;
  const [ownLevel, ownClock, number960] = form.querySelectorAll(".own");
  ownLevel.hidden = level.value !== "own" || form.elements.colour.value === "both";
  ownClock.hidden = clock.value !== "own";
  number960.hidden = start.value !== "chess960";
}

function values(form) {
  const { colour, level, elo, clock, minutes, increment, start, number: position } = form.elements;
  const wanted = { colour: colour.value, clock: clock.value, chess960: start.value === "chess960", here: start.value === "here" };
  if (clock.value === "own") wanted.clock = `${minutes.value * 60}+${increment.value || 0}`;
  if (level.value !== "full") wanted.elo = level.value === "own" ? elo.valueAsNumber : Number(level.value);
  if (wanted.chess960 && position.value !== "") wanted.number = position.valueAsNumber;
  lastGame = wanted;
  return wanted;
}

/** Ask how the new game should be; `start` preselects the start position. */
export async function askForGame(start = "") {
  const isOpen = shownGame?.mode === "play" && !shownGame.game.over && shownGame.game.moves > 0;
  if (isOpen && !(await confirmed(TEXTS.endQuestion, TEXTS.yesEnd, TEXTS.noPlay))) return;
  const form = byId("new-game-form");
  if (typeof start === "string" && start) form.elements.start.value = start;
  markOwn(form);
  dialog.showModal();
}

/** The same game again, with colours changed. */
function rematch() {
  const { game } = shownGame;
  const colour = game.persons.length === 1 ? (game.persons[0] === "White" ? "black" : "white") : "both";
  const wanted = { ...lastGame, colour, here: false, again: true };
  if (game.elo) wanted.elo = game.elo;
  attempt(() => send("new_game", wanted));
}
