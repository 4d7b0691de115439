// The page: shows what Moff sends, and sends Moff what the user does. It decides nothing about chess.

import { setUpAnalysis, showEngine, showLines } from "./analysis.js";
import { Board } from "./board.js";
import { attempt, complain } from "./complaint.js";
import { command, connect, gameText, tab } from "./connection.js";
import { byId, copied, element, tell } from "./dom.js";
import { setUpGames, showGames } from "./games.js";
import { setUpGenerator, showGenerator } from "./generator.js";
import { drawMoves, markMove } from "./moves.js";
import { loadPieces, moveText } from "./pieces.js";
import { setUpPlay, showPlay } from "./play.js";

const PANELS = ["play", "analysis", "games", "generator"];
const known = { state: null, tree: null, lines: null, games: null };
let panel = "";

const board = new Board(byId("board"), (move) => attempt(() => command("move", { text: move })));

function show(topic, value) {
  known[topic] = value;
  if (topic === "state") showState(value);
  else if (topic === "tree") showTree();
  else if (topic === "lines") {
    showLines(value);
    if (!known.state || value.node === known.state.node) board.showArrows(value.arrows);
  } else showGames(value);
}

function showState(state) {
  if (!panel) choosePanel(state.mode, false);
  // Opening a file or a command may have changed the mode.
  else if (["play", "analysis"].includes(panel) && panel !== state.mode) choosePanel(state.mode, false);
  document.body.dataset.mode = state.mode;
  if (!stepping) heading = null;
  board.show(state);
  showPlay(state);
  showEngine(state);
  tell(byId("end"), state.end);
  if (byId("said").textContent !== state.said) byId("said").textContent = state.said;
  byId("said").classList.toggle("unseen", state.said === state.verdict); // already visible
  byId("fen").value = state.fen;
  markMove(byId("moves"), state.node);
  showGenerator(state);
  showFens();
}

function showTree() {
  const { tree, state } = known;
  drawMoves(byId("moves"), tree, goTo);
  const { White: white, Black: black } = tree.tags;
  byId("record-title").textContent = white || black ? `${white ?? "?"} – ${black ?? "?"}` : "Moves";
  if (state) markMove(byId("moves"), state.node);
}

// Walking through the moves.

// Where the last step led; the board may still show an earlier position, as steps come faster than states.
let heading = null;
let stepping = 0;

async function goTo(node) {
  heading = node;
  stepping += 1;
  if (!(await attempt(() => command("go_to", { node }))) && heading === node) heading = null;
  stepping -= 1;
}

function walk(where) {
  const { tree, state } = known;
  if (!tree || !state) return;
  const parents = new Map(tree.moves.map((move) => [move.node, move.parent]));
  const firstChild = new Map();
  for (const move of tree.moves) if (!firstChild.has(move.parent)) firstChild.set(move.parent, move.node);
  const here = heading ?? state.node;
  let node = here;
  if (where === "first") node = 0;
  else if (where === "previous") node = parents.get(node) ?? node;
  else if (where === "next") node = firstChild.get(node) ?? node;
  else while (firstChild.has(node)) node = firstChild.get(node);
  if (node !== here) goTo(node);
}

function setUpWalking() {
  for (const where of ["first", "previous", "next", "last"]) byId(where).addEventListener("click", () => walk(where));
  byId("flip").addEventListener("click", () => attempt(() => command("flip")));
  document.addEventListener("keydown", (event) => {
    const inText = event.target.closest("input, textarea, select, [role=tab], dialog");
    if (inText || event.ctrlKey || event.metaKey || event.altKey) return;
    const where = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    if (where) walk(where);
    else if (event.key.toLowerCase() === "f") byId("flip").click();
    else return;
    event.preventDefault();
  });
  byId("typed").addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = byId("typed-move").value.trim();
    if (!text || !(await attempt(() => command("move", { text })))) return;
    // The user may have started typing the next move.
    if (byId("typed-move").value.trim() === text) byId("typed-move").value = "";
  });
}

// Panels.

function choosePanel(name, isChosen = true) {
  panel = name;
  for (const other of PANELS) {
    const isShown = other === name;
    byId(`panel-${other}`).hidden = !isShown;
    const button = byId(`tab-${other}`);
    button.setAttribute("aria-selected", String(isShown));
    button.tabIndex = isShown ? 0 : -1;
  }
  if (known.state) showGenerator(known.state, name === "generator");
  if (isChosen && ["play", "analysis"].includes(name) && known.state?.mode !== name) {
    attempt(() => command("mode", { mode: name }));
  }
}

function setUpPanels() {
  for (const [index, name] of PANELS.entries()) {
    const button = byId(`tab-${name}`);
    button.addEventListener("click", () => choosePanel(name));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = PANELS[(index + step + PANELS.length) % PANELS.length];
      choosePanel(next);
      byId(`tab-${next}`).focus();
    });
  }
}

// The game and the position as text.

function setUpRecord() {
  const copy = (what, text) =>
    attempt(async () => {
      if (!(await copied(await text()))) throw new Error("The browser does not allow copying");
      byId("said").textContent = `${what} copied`;
    });
  byId("copy-pgn").addEventListener("click", () => copy("PGN", gameText));
  byId("copy-fen").addEventListener("click", () => copy("FEN", () => known.state.fen));
  byId("download").href = `game.pgn?tab=${tab}`;
  byId("show-fens").addEventListener("click", () => {
    const isOpen = byId("fens").hidden;
    byId("fens").hidden = !isOpen;
    byId("show-fens").setAttribute("aria-expanded", String(isOpen));
    showFens();
  });
}

function showFens() {
  if (byId("fens").hidden) return;
  attempt(async () => {
    const { start, moves } = await command("fens");
    const rows = moves.map(({ node, turn, san, fen }) =>
      element(
        "tr",
        { "aria-current": node === known.state.node ? "true" : null },
        element("td", {}, `${turn} `, moveText(san)),
        element("td", {}, element("code", {}, fen)),
      ),
    );
    const head = element("tr", {}, element("td", {}, "start"), element("td", {}, element("code", {}, start)));
    byId("fens").replaceChildren(element("table", {}, element("tbody", {}, head, ...rows)));
  });
}

// Appearance.

function setUpLooks() {
  const settings = { theme: "auto", notation: "letters" };
  for (const name of Object.keys(settings)) {
    const choice = byId(name);
    const apply = (value) => {
      choice.value = value;
      document.documentElement.dataset[name] = value;
      if (known.tree) showTree();
      if (known.lines) showLines(known.lines);
    };
    try {
      settings[name] = localStorage.getItem(name) ?? settings[name];
    } catch {
      // The settings are then not kept.
    }
    apply(settings[name]);
    choice.addEventListener("change", () => {
      apply(choice.value);
      try {
        localStorage.setItem(name, choice.value);
      } catch {
        // As above.
      }
    });
  }
}

async function start() {
  setUpLooks();
  setUpPanels();
  setUpWalking();
  setUpPlay();
  setUpAnalysis(() => heading ?? known.state?.node ?? 0);
  setUpGames((games) => choosePanel(games > 1 ? "games" : "analysis", false));
  setUpGenerator(board);
  setUpRecord();
  await loadPieces();
  connect(show, (text) => {
    byId("status").textContent = text;
  });
}

start().catch((error) => complain(error.message));
