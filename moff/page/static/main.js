// The page: shows what Moff sends, and sends Moff what the user does. It decides nothing about chess.

import { Annotation, drawingTool } from "./annotate.js";
import { Board } from "./board.js";
import { attempt, setUpComplaints } from "./complaint.js";
import { connect, gameText, send, tab } from "./connection.js";
import { Curve } from "./curve.js";
import { byId, command, copied, element, iconButton, icon, tell } from "./dom.js";
import { Editor } from "./editor.js";
import { EnginePanel, showBar } from "./engine.js";
import { besideOpened, setUpGames, showGames } from "./games.js";
import { setUpGenerator, showGenerator } from "./generator.js";
import { indexed, MoveList, piecesAfter, sideAfter } from "./moves.js";
import { moveText, storePieces } from "./pieces.js";
import { askForGame, playerRow, setUpNewGame, setUpPlay, showCommands, showPlayers } from "./play.js";
import { mistakeBeside, ReviewPanel } from "./review.js";
import { applySettings, setting, setUpSettings, sound } from "./settings.js";
import { TEXTS } from "./texts.js";

const DATA = JSON.parse(byId("data").textContent);
const REPORT = DATA.report ?? null;
const VIEWS = REPORT ? ["analyse", "games"] : ["play", "analyse", "games", "generator"];
const isLow = matchMedia("(max-height: 800px), (max-aspect-ratio: 1/1)"); // no room for lines, summary and moves
const WHEEL = 50; // pixels of the mouse wheel for a move
const MODES = { play: "play", analyse: "analysis" };

const known = { state: null, tree: null, lines: null, games: null };
let view = "";
let here = 0; // the move on the board, which Moff may not know yet: steps come faster than states
let pending = 0; // steps on their way to Moff
let parts = null;

// The parts of the page.

function build() {
  document.title = REPORT?.title ?? TEXTS.title;
  applySettings();
  storePieces(DATA.figurines);
  const tabs = VIEWS.map((name) => {
    const shown = name === "analyse" && REPORT ? "review" : name;
    return element(
      "button",
      {
        role: "tab", type: "button", id: `tab-${name}`, "aria-controls": `panel-${name}`, "aria-label": TEXTS[shown],
        title: TEXTS[shown], onclick: (event) => pressTab(event, name), onkeydown: walkTabs,
      },
      icon(shown),
      element("span", {}, TEXTS[shown]), // not seen where there is little room
    );
  });
  const board = element("div", { id: "board" });
  const panels = Object.fromEntries(VIEWS.map((name) => [
    name, element("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true }),
  ]));
  const home = element("div", { id: "home", hidden: true });
  const editor = element("div", { id: "editor", class: "card", hidden: true });
  const record = element("div", { id: "record" });
  document.body.append(
    element("header", { id: "top" },
      element("h1", {}, TEXTS.title),
      element("div", { role: "tablist", "aria-label": TEXTS.views }, ...tabs),
      iconButton("open-settings", "settings", TEXTS.settings, () => parts.settings.dialog.showModal()),
      iconButton("full-screen", "full", TEXTS.fullScreen, teach)),
    element("main", {},
      element("section", { id: "stage", "aria-label": TEXTS.board },
        playerRow("above"),
        element("div", { id: "arena" },
          element("div", { id: "bar", class: "unknown", role: "img" },
            element("div", { id: "bar-white" }), element("span", { id: "bar-text", "aria-hidden": "true" })),
          board),
        playerRow("below")),
      element("section", { id: "panel", "aria-label": TEXTS.views },
        element("p", { id: "status", role: "status", hidden: true }),
        element("p", { id: "notice", role: "status", hidden: true }),
        element("p", { id: "complaint", class: "complaint", role: "alert", hidden: true }),
        home, editor, ...Object.values(panels)),
      element("nav", { id: "walk", "aria-label": TEXTS.walk },
        ...["first", "previous"].map((where) => iconButton(where, where, TEXTS[where], () => walk(where))),
        iconButton("flip", "flip", TEXTS.flip, flip),
        ...["next", "last"].map((where) => iconButton(where, where, TEXTS[where], () => walk(where))),
        REPORT ? null : typedMove())),
    element("p", { id: "said", class: "unseen", "aria-live": "polite" }),
  );
  setUpComplaints(byId("complaint"));
  parts = {
    board: new Board(board, {
      onMove: move,
      onShapes: (shapes) => (REPORT ? null : attempt(() => send("shapes", { node: here, shapes }))),
      onEdit: () => parts.editor.show(),
    }),
    settings: setUpSettings(() => { drawTree(); if (known.lines) showLines(known.lines); }, !REPORT),
  };
  buildRecord(record);
  buildAnalysis(panels.analyse, record);
  if (!REPORT) {
    buildHome(home);
    setUpPlay(panels.play, reviewGame);
    setUpNewGame(DATA.levels, DATA.elo, DATA.range);
    setUpGenerator(panels.generator, parts.board);
    parts.editor = new Editor(editor, parts.board, () => showPanels());
  }
  if (REPORT?.about) panels.games.append(element("p", { class: "quiet" }, REPORT.about));
  setUpGames(panels.games, REPORT ? reportGames() : {
    rows: (words, first) => send("list", { words, first }),
    open: async (number) => {
      await send("open", { number });
      choose("analyse", false);
    },
    canOpen: true,
    onOpened: (games) => {
      choose(games > 1 ? "games" : "analyse", false);
      byId("games").scrollIntoView();
    },
  });
  parts.record = record;
  setUpKeys();
}

function typedMove() {
  const input = element("input", {
    id: "typed-move", placeholder: "Nf3", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": TEXTS.typeMove,
  });
  const submit = async (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text || !(await attempt(() => sendMove(text)))) return;
    // The user may have started typing the next move.
    if (input.value.trim() === text) input.value = "";
  };
  return element("form", { id: "typed", onsubmit: submit }, input, element("button", { type: "submit" }, TEXTS.typeButton));
}

function buildHome(home) {
  const actions = { play: () => askForGame(), analyse: beginAnalysis, review: () => choose("games") };
  const icons = { play: "play", analyse: "analyse", review: "review" };
  home.append(
    element("h2", {}, TEXTS.question),
    ...Object.entries(TEXTS.choices).map(([name, [title, text]]) =>
      element("button", { type: "button", class: "big-choice", id: `choose-${name}`, onclick: actions[name] },
        icon(icons[name]), element("strong", {}, title), element("span", {}, text))),
    element("p", { class: "quiet" }, TEXTS.dropHint),
  );
}

function buildRecord(record) {
  const curve = element("div", { id: "curve", hidden: true });
  const moves = element("div", { id: "moves", tabindex: 0, role: "region", "aria-label": TEXTS.moves });
  record.append(element("p", { id: "opening" }), curve, moves);
  parts.curve = new Curve(curve, goTo);
  parts.moves = new MoveList(moves, goTo);
  new ResizeObserver(() => parts.moves.mark(here)).observe(moves);
}

function buildAnalysis(panel, record) {
  const engine = element("div", { id: "engine", class: "card" });
  const review = element("div", { id: "review" });
  const annotation = element("div", { id: "annotation", class: "card drawer", hidden: true });
  const pens = element("div", { id: "pens", class: "card drawer", hidden: true });
  const share = element("div", { id: "share", class: "card drawer", hidden: true });
  const drawer = (id, name, text, place) => {
    const button = command(id, name, text, () => {
      const isOpen = place.hidden;
      parts.closeDrawers();
      place.hidden = !isOpen;
      button.setAttribute("aria-pressed", String(isOpen));
      if (!pens.hidden) parts.choosePen("green");
      if (!annotation.hidden) byId("comment-text").focus();
    });
    button.setAttribute("aria-pressed", "false");
    return button;
  };
  parts.closeDrawers = () => {
    for (const place of [annotation, pens, share]) place.hidden = true;
    for (const button of panel.querySelectorAll(".commands [aria-pressed]")) button.setAttribute("aria-pressed", "false");
    parts.choosePen(""); // else presses on the board would go on drawing
  };
  parts.review = new ReviewPanel(review, goTo, toMistake, !REPORT);
  parts.choosePen = drawingTool(pens, (colour) => (parts.board.pen = colour), () => setShapes([]));
  buildShare(share);
  const commands = REPORT ? [] : [
    command("review-this", "review", TEXTS.reviewGame, reviewGame),
    command("edit", "edit", TEXTS.edit, () => beginAnalysis()),
    drawer("open-comment", "comment", TEXTS.annotate, annotation),
    drawer("open-pens", "draw", TEXTS.draw, pens),
    drawer("open-share", "share", TEXTS.share, share),
    command("play-here", "play", TEXTS.playHere, () => askForGame("here")),
  ];
  const slot = element("div", { class: "slot" }, record);
  panel.append(
    element("p", { id: "verdict", hidden: true }),
    engine, review, slot,
  );
  if (REPORT) {
    engine.hidden = true;
  } else {
    const bar = element("div", { class: "commands", role: "group", "aria-label": TEXTS.analyse }, ...commands);
    panel.append(element("div", { class: "dock" }, annotation, pens, share, bar));
    parts.engine = new EnginePanel(engine, () => boardView());
    parts.annotation = new Annotation(annotation, (name) => attempt(() => send(name, { node: here })));
  }
}

function buildShare(share) {
  const fens = element("div", { id: "fens", tabindex: 0, role: "region", "aria-label": TEXTS.allFens, hidden: true });
  const copy = (what, text) =>
    attempt(async () => {
      if (!(await copied(await text()))) throw new Error(TEXTS.cannotCopy);
      tell(byId("notice"), TEXTS.copied(what));
    });
  const link = () => `${location.href.split("#")[0]}#fen=${known.state.fen.replaceAll(" ", "_")}`;
  const button = (id, text, action) => element("button", { type: "button", id, onclick: action }, text);
  share.append(
    element("label", { class: "wide" }, TEXTS.fen, element("input", { id: "fen", readonly: true })),
    element("div", { class: "row" },
      button("copy-fen", TEXTS.copyFen, () => copy("FEN", () => known.state.fen)),
      button("copy-pgn", TEXTS.copyPgn, () => copy("PGN", gameText)),
      button("copy-link", TEXTS.copyLink, () => copy(TEXTS.link, link)),
      element("a", { id: "download", class: "button", href: `game.pgn?tab=${tab}`, download: "moff.pgn" }, TEXTS.downloadPgn),
      element("a", { id: "download-report", class: "button", href: `report.html?tab=${tab}`, download: "review.html" }, TEXTS.downloadReport),
      button("show-fens", TEXTS.allFens, () => { fens.hidden = !fens.hidden; showFens(); })),
    fens,
  );
}

// What Moff sends.

function receive(topic, value) {
  known[topic] = value;
  if (topic === "tree") {
    const isOther = known.indexed?.id !== value.id;
    known.indexed = indexed(value);
    if (isOther) here = 0;
    if (known.state) drawTree();
  } else if (topic === "state") {
    showState(value);
  } else if (topic === "lines") {
    showLines(value);
  } else {
    showGames(value);
  }
}

function showState(state) {
  const before = here;
  const isFirst = !byId("moves").childElementCount;
  if (!pending || !known.indexed.byNode.has(here)) here = state.node;
  document.body.dataset.mode = state.mode;
  if (isFirst) drawTree();
  const isFresh = state.mode === "play" && !state.game.moves && !state.game.begun;
  if (!view) choose(isFresh && !REPORT ? "home" : state.mode === "play" ? "play" : "analyse", false);
  // A file, a command or the first move may have changed the mode.
  else if (view === "home" ? !isFresh : MODES[view] && MODES[view] !== state.mode) {
    choose(state.mode === "play" ? "play" : "analyse", false);
  }
  tell(byId("notice"), state.notice);
  if (byId("said").textContent !== state.said) byId("said").textContent = state.said;
  if (here !== before) makeSound(here, state);
  if (parts.engine) {
    if (state.engine.on && byId("engine-on").getAttribute("aria-checked") === "false" && isLow.matches) byId("summary").open = false;
    parts.engine.showState(state);
    parts.settings.show(state);
  }
  parts.review.showProgress(state.review);
  parts.review.showLesson(state.lesson);
  document.body.classList.toggle("learning", Boolean(state.lesson));
  showHere();
  if (!REPORT) {
    showGenerator(state, view === "generator");
    showFens();
  }
}

function showLines(lines) {
  if (lines.node !== here && known.state) return; // of a position that was left
  parts.engine?.show(lines);
  showArrows();
}

function drawTree() {
  const tree = known.indexed;
  parts.moves.draw(tree);
  parts.curve.draw(tree);
  parts.review.showSummary(tree);
  if (byId("download-report")) byId("download-report").hidden = !tree.summary;
  if (tree.byNode.has(here)) showHere();
}

/** Show the move `here`, as far as it is known. */
function showHere() {
  const { state, indexed: tree } = known;
  if (!state || !tree?.byNode.has(here)) return;
  const move = tree.byNode.get(here);
  const shown = boardView();
  parts.board.show(shown);
  showArrows();
  parts.moves.mark(here);
  parts.curve.mark(here);
  tell(byId("verdict"), state.lesson ? "" : ((state.node === here ? state.verdict : move.verdict) ?? ""));
  tell(byId("opening"), openingName(tree, move));
  state.noted = notedClocks(tree, move);
  showPlayers(state, shown.pieces, tree);
  if (!REPORT) {
    showCommands(state);
    byId("fen").value = state.fen;
    parts.annotation.show(move);
  }
}

/** What the board shows. */
function boardView() {
  const { state, indexed: tree } = known;
  const move = tree.byNode.get(here);
  const isSent = state.node === here;
  const side = sideAfter(tree, move);
  const pieces = piecesAfter(tree, move);
  const { game } = state;
  const waits = state.mode === "play" && game.live && !game.over && game.persons.length === 1 && side !== game.persons[0];
  return {
    pieces,
    key: `${tree.id}/${here}/${state.lesson?.resets ?? ""}`,
    last: move.uci ? [move.uci.slice(0, 2), move.uci.slice(2, 4)] : [],
    check: isSent ? state.check : checked(move, pieces, side),
    glyph: state.lesson ? "" : move.glyph,
    moves: isSent ? state.moves : [],
    side,
    flipped: state.flipped,
    shapes: move.shapes ?? [],
    own: waits ? game.persons[0] : "",
    isStart: here === 0,
    isPlaying: state.mode === "play",
  };
}

/** The square of a king in check, by the sign of the move. */
function checked(move, pieces, side) {
  if (!/[+#]$/.test(move.san)) return "";
  const king = side === "White" ? "K" : "k";
  return Object.entries(pieces).find(([, letter]) => letter === king)?.[0] ?? "";
}

function showArrows() {
  const { lines, indexed: tree, state } = known;
  if (!tree?.byNode.has(here) || !state) return;
  const move = tree.byNode.get(here);
  const isSent = lines?.node === here;
  let arrows = isSent ? lines.arrows : [];
  if (!arrows.length && move.refutation && !state.lesson) {
    arrows = move.refutation.map((uci, index) => ({
      from: uci.slice(0, 2), to: uci.slice(2, 4), colour: index ? "orange" : "red", name: index ? "follow-up" : "refutation",
    }));
  }
  parts.board.showArrows(arrows);
  showBar((isSent && lines.bar) || (state.mode === "analysis" && !state.lesson && move.eval) || null);
}

function openingName(tree, move) {
  for (let at = move; at; at = tree.byNode.get(at.parent)) if (at.opening) return at.opening;
  return "";
}

/** The clocks that a game notes, of White and Black. */
function notedClocks(tree, move) {
  const clocks = [null, null];
  for (let at = move; at?.node; at = tree.byNode.get(at.parent)) {
    const side = at.turn.endsWith("...") ? 1 : 0;
    clocks[side] ??= at.clock ?? null;
    if (clocks[0] && clocks[1]) break;
  }
  return clocks;
}

function makeSound(node, state) {
  const move = known.indexed.byNode.get(node);
  if (!move?.san || setting("sounds") !== "on") return;
  sound(state.end ? "end" : move.san.includes("x") ? "capture" : "move");
}

async function showFens() {
  if (byId("fens").hidden) return;
  await attempt(async () => {
    const { start, moves } = await send("fens");
    const line = (label, fen, node) =>
      element("tr", { "aria-current": node === here ? "true" : null },
        element("td", {}, ...label), element("td", {}, element("code", {}, fen)));
    byId("fens").replaceChildren(element("table", {}, element("tbody", {},
      line([TEXTS.start], start, 0),
      ...moves.map(({ node, turn, san, fen }) => line([`${turn} `, moveText(san)], fen, node)))));
  });
}

// What the user does.

const sendMove = (text) => (known.state.lesson ? send("lesson", { what: "try", text }) : send("move", { text }));

async function move(text) {
  if (await attempt(() => sendMove(text))) return;
  parts.board.refuse(boardView());
}

/** Play the best move of the engine's first line. */
function playBest() {
  const { lines } = known;
  const uci = lines?.node === here && lines.lines[0]?.moves[0]?.uci;
  if (uci) attempt(() => send("follow", { node: here, moves: uci }));
}

function setShapes(shapes) {
  if (!REPORT) attempt(() => send("shapes", { node: here, shapes }));
}

async function goTo(node) {
  here = node;
  showHere();
  if (REPORT) {
    known.state.node = node;
    return;
  }
  pending += 1;
  await attempt(() => send("go_to", { node }));
  pending -= 1;
}

function walk(where) {
  const tree = known.indexed;
  if (!tree || !known.state || known.state.lesson) return; // a lesson shows its own positions
  let node = here;
  const next = () => tree.children.get(node)?.[0]?.node;
  if (where === "first") node = 0;
  else if (where === "previous") node = tree.byNode.get(node).parent ?? node;
  else if (where === "next") node = next() ?? node;
  else while (next() !== undefined) node = next();
  if (node !== here) goTo(node);
}

function toMistake(step) {
  const node = mistakeBeside(known.indexed, here, step);
  if (node) goTo(node);
}

function flip() {
  if (!REPORT) {
    attempt(() => send("flip"));
    return;
  }
  known.state.flipped = !known.state.flipped;
  showHere();
}

async function reviewGame() {
  if (known.state.mode === "play" && !(await attempt(() => send("mode", { mode: "analysis", game: true })))) return;
  await attempt(() => send("review"));
}

/** Begin with the editor. */
async function beginAnalysis() {
  const { fen } = known.state;
  if (known.state.mode !== "analysis" && !(await attempt(() => send("mode", { mode: "analysis" })))) return;
  choose("analyse", false);
  parts.editor.begin(fen);
  showPanels();
}

/** The board and the moves alone, for a projector: stepping back hides the moves that follow. */
function teach() {
  const isOn = document.body.classList.toggle("teach");
  byId("full-screen").setAttribute("aria-pressed", String(isOn));
  if (isOn) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  parts.moves.hidesFuture = isOn;
  parts.closeDrawers();
  if (view !== "analyse" && view !== "play") choose(known.state.mode === "play" ? "play" : "analyse", false);
  showHere();
}

// Views.

function choose(name, isChosen = true) {
  view = name;
  if (name !== "analyse") parts.closeDrawers();
  if (name !== "generator") document.querySelector('[name=overlay][value=""]')?.click(); // nothing else would say what it is
  if (parts.editor && !byId("editor").hidden && name !== "analyse") parts.editor.end(false);
  showPanels();
  if (known.state && !REPORT) showGenerator(known.state, name === "generator");
  if (isChosen && MODES[name] && known.state && known.state.mode !== MODES[name]) {
    attempt(() => send("mode", { mode: MODES[name] }));
  }
}

function showPanels() {
  const isEditing = Boolean(parts.editor) && !byId("editor").hidden;
  document.body.dataset.view = view;
  document.body.classList.toggle("editing", isEditing);
  if (byId("home")) byId("home").hidden = view !== "home";
  for (const name of VIEWS) {
    const isShown = name === view || (view === "home" && name === "play");
    byId(`panel-${name}`).hidden = name !== view || isEditing;
    const button = byId(`tab-${name}`);
    button.setAttribute("aria-selected", String(isShown));
    button.tabIndex = isShown ? 0 : -1;
  }
  const slot = byId(`panel-${view}`)?.querySelector(".slot");
  if (slot && parts.record && parts.record.parentNode !== slot) slot.append(parts.record);
}

function pressTab(event, name) {
  choose(name);
  // After a click, the arrow keys walk through the moves, not through the tabs.
  if (event.detail) event.currentTarget.blur();
}

function walkTabs(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.stopPropagation();
  const index = VIEWS.findIndex((name) => byId(`tab-${name}`) === event.currentTarget);
  const next = VIEWS[(index + step + VIEWS.length) % VIEWS.length];
  choose(next);
  byId(`tab-${next}`).focus();
}

// Keys.

function setUpKeys() {
  document.addEventListener("keydown", (event) => {
    const inText = event.target.closest("input, textarea, select, [role=tab], dialog");
    if (event.key === " " && event.target.closest("button, summary")) return;
    if (inText || event.ctrlKey || event.metaKey || event.altKey) return;
    const press = (id) => () => byId(id) && !byId(id).disabled && byId(id).click();
    const open = (step) => () => {
      const number = besideOpened(step);
      if (number) openGame(number);
    };
    const actions = {
      ArrowLeft: () => walk("previous"), ArrowRight: () => walk("next"), Home: () => walk("first"), End: () => walk("last"),
      f: flip, e: press("engine-on"), m: () => toMistake(1), M: () => toMistake(-1), n: open(1), p: open(-1),
      " ": playBest, x: press("engine-threat"), u: press("take-back"), h: press("hint"), c: press("open-comment"),
      Escape: () => parts.board.cancel(), "?": press("open-settings"), F: press("full-screen"),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  let turned = 0;
  byId("board").addEventListener("wheel", (event) => {
    if (event.ctrlKey) return; // zooming
    event.preventDefault();
    turned += event.deltaY;
    if (Math.abs(turned) < WHEEL) return;
    walk(turned > 0 ? "next" : "previous");
    turned = 0;
  }, { passive: false });
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement && document.body.classList.contains("teach")) teach();
  });
}

// A report: the games are in the page, and nothing is sent.

let openGame = (number) => attempt(() => send("open", { number }));

function reportGames() {
  const rowOf = (tree, index) => ({
    number: index + 1, tags: { ...tree.tags, Result: tree.result }, moves: tree.moves.length, fault: tree.fault,
    accuracy: tree.summary?.sides.map((side) => side.accuracy),
  });
  openGame = (number) => {
    history.replaceState(null, "", `#game-${number}`);
    showReported(number);
    choose("analyse");
  };
  return {
    canOpen: false,
    open: openGame,
    rows: async (words) => {
      const wanted = words.toLowerCase().split(/\s+/);
      const rows = REPORT.games.map(rowOf).filter(({ tags }) => {
        const text = Object.values(tags).join(" ").toLowerCase();
        return wanted.every((word) => text.includes(word));
      });
      return { count: rows.length, rows };
    },
  };
}

function showReported(number) {
  const tree = REPORT.games[number - 1];
  const game = { names: [], persons: [], elo: null, moves: tree.moves.length, begun: true, live: false, thinking: false, over: true, clocks: [null, null], running: "" };
  const flipped = known.state?.flipped ?? false;
  receive("tree", tree);
  receive("games", { list: 1, title: REPORT.title, count: REPORT.games.length, opened: number });
  receive("state", {
    mode: "analysis", flipped, node: 0, check: "", moves: [], side: "White", said: "", notice: tree.fault ?? "", end: "", game,
    review: null, lesson: null, engine: {},
  });
}

function showAddressed() {
  const number = Number(location.hash.match(/^#game-(\d+)$/)?.[1] ?? 1);
  showReported(number >= 1 && number <= REPORT.games.length ? number : 1);
}

/** Set up the position that the address names. */
function openLinked() {
  const linked = location.hash.match(/^#fen=(.+)$/);
  if (!linked) return;
  history.replaceState(null, "", location.pathname);
  attempt(() => send("set_up", { text: decodeURIComponent(linked[1]).replaceAll("_", " ") }));
}

build();
if (REPORT) {
  window.addEventListener("hashchange", showAddressed);
  showAddressed();
  if (REPORT.games.length > 1 && !location.hash) choose("games");
} else {
  connect(receive, (text) => tell(byId("status"), text));
  window.addEventListener("hashchange", openLinked);
  openLinked();
}
