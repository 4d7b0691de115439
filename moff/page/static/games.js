// Games to open: a file, a text, and the list of the games of a file, which is a study if each is a chapter.

import { attempt } from "./complaint.js";
import { openGames, send, tab } from "./connection.js";
import { byId, confirmed, element, icon } from "./dom.js";
import { TEXTS } from "./texts.js";

const LONGEST_TEXT = 60000; // bytes of a command, which may be twice as many as JSON
const LONGEST_NAME = 60; // characters

let firstRow = 0;
let knownList = null;
let openRow = () => {};
let fetchRows = async () => ({ count: 0, rows: [] });

/** Build the panel. `source` fetches rows and opens games; `canOpen` is false in a report. */
export function setUpGames(panel, { rows, open, canOpen, onOpened }) {
  fetchRows = rows;
  openRow = open;
  if (canOpen) panel.append(element("details", { id: "openers", open: true }, element("summary", {}, TEXTS.openGames), ...openers(onOpened)));
  const search = element("input", { id: "games-words", type: "search", oninput: () => list(0) });
  panel.append(
    element(
      "div",
      { id: "games", hidden: true },
      element("h2", { id: "games-name" }),
      canOpen
        ? element("div", { class: "row" },
            element("button", { type: "button", id: "save-study", onclick: saveStudy }, icon("save"), TEXTS.saveStudy),
            element("button", { type: "button", id: "new-chapter", onclick: () => attempt(() => send("chapter")) }, icon("add"), TEXTS.newChapter),
            element("a", { class: "button", id: "download-study", href: `games.pgn?tab=${tab}`, download: "moff.pgn" },
              icon("download"), TEXTS.downloadStudy))
        : null,
      element("label", { class: "wide", id: "games-search" }, TEXTS.search, search),
      element("div", { id: "games-rows", tabindex: 0, role: "region", "aria-label": TEXTS.list }),
      element("button", { type: "button", id: "games-more", onclick: () => list(firstRow) }, TEXTS.moreGames),
    ),
  );
}

function openers(onOpened) {
  const complaint = element("p", { class: "complaint", role: "alert", hidden: true, id: "open-complaint" });
  // What is dropped or pasted anywhere is complained about where everybody sees it.
  const setUp = (text, place) =>
    attempt(async () => {
      const { games } = await send("set_up", { text });
      onOpened(games);
    }, place);
  const open = (file, place) =>
    attempt(async () => {
      const name = [...file.name].slice(0, LONGEST_NAME).join("");
      const { games } = await openGames(name, file);
      onOpened(games);
    }, place);
  const take = (text, place) => {
    const file = new File([text], "the text");
    return file.size < LONGEST_TEXT ? setUp(text, place) : open(file, place);
  };
  const pasted = element("textarea", { id: "pasted", rows: 3, spellcheck: "false" });
  const file = element("input", {
    id: "file", type: "file", accept: ".pgn,.txt",
    onchange: () => {
      if (file.files.length) open(file.files[0], complaint);
      file.value = "";
    },
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const [dropped] = event.dataTransfer.files;
    const text = event.dataTransfer.getData("text");
    if (dropped) open(dropped);
    else if (text) take(text);
  });
  document.addEventListener("paste", (event) => {
    if (event.target.closest("input, textarea")) return;
    const [copied] = event.clipboardData.files;
    const text = event.clipboardData.getData("text");
    if (copied) open(copied);
    else if (text.trim()) take(text);
  });
  const submit = (event) => {
    event.preventDefault();
    take(pasted.value, complaint);
  };
  return [
    element("label", { class: "upload primary" }, TEXTS.open, file),
    element("form", { id: "set-up", onsubmit: submit },
      element("label", { class: "wide" }, TEXTS.paste, pasted),
      complaint,
      element("button", { type: "submit" }, TEXTS.pasteButton)),
  ];
}

async function saveStudy() {
  if (await confirmed(TEXTS.saveQuestion(knownList.name), TEXTS.yesSave, TEXTS.cancel)) await attempt(() => send("save"));
}

/** Show the list of games. */
export function showGames(games) {
  byId("games").hidden = games.count === 0;
  byId("games-name").textContent = games.title ?? TEXTS.counted(games.name, games.count);
  byId("games-search").hidden = games.count < 2;
  if (byId("save-study")) byId("save-study").hidden = !games.can_save;
  const isOther = knownList?.list !== games.list;
  if (isOther && byId("openers")) byId("openers").open = games.count === 0;
  knownList = games;
  if (games.count && isOther) list(0);
  else markOpened();
}

/** The game before or after the one that is open; 0 if there is none. */
export function besideOpened(step) {
  const number = (knownList?.opened ?? 0) + step;
  return knownList?.opened && number >= 1 && number <= knownList.count ? number : 0;
}

async function list(from) {
  const words = byId("games-words").value;
  await attempt(async () => {
    const { count, rows } = await fetchRows(words, from);
    if (from && from !== firstRow) return; // these are already here, or others are wanted by now
    firstRow = from + rows.length;
    byId("games-more").hidden = firstRow >= count;
    const body = rows.map(gameRow);
    if (from) {
      byId("games-rows").querySelector("tbody").append(...body);
    } else {
      const head = element("tr", {}, ...TEXTS.columns.map((title) => element("th", { scope: "col" }, title)));
      byId("games-rows").replaceChildren(
        element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
        ...(count ? [] : [TEXTS.noneFound]),
      );
    }
    markOpened();
  });
}

function gameRow({ number, tags, moves, fault, accuracy }) {
  const open = () => attempt(() => openRow(number));
  const rated = (side) => {
    const index = side === "White" ? 0 : 1;
    const name = [tags[side] ?? "?", tags[`${side}Elo`]].filter(Boolean).join(" ");
    return [name, accuracy?.[index] ? element("span", { class: "quiet" }, ` ${accuracy[index]} %`) : ""];
  };
  const opening = element("button", { type: "button", "aria-label": TEXTS.openGame(number) }, number);
  const count = `${Math.ceil(moves / 2)}${fault ? ` (${TEXTS.damaged})` : ""}`;
  const cells = [rated("White"), rated("Black"), [tags.Result ?? "*"], [tags.Date], [tags.Event], [tags.ECO], [count]];
  return element(
    "tr",
    { "data-game": number, title: fault || null, onclick: open },
    element("td", {}, opening),
    ...cells.map((parts, index) => element("td", { "data-label": TEXTS.columns[index + 1] }, ...parts.map((part) => part ?? ""))),
  );
}

function markOpened() {
  for (const row of byId("games-rows").querySelectorAll("tr[data-game]")) {
    if (Number(row.dataset.game) === knownList?.opened) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}
