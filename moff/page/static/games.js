// Positions and games to open: pasted, dropped, or chosen from a list.

import { attempt } from "./complaint.js";
import { command, openGames } from "./connection.js";
import { byId, element, tell } from "./dom.js";

const LONGEST_TEXT = 60000; // bytes of a command, which may be twice as many as JSON
const LONGEST_NAME = 60; // characters

let first = 0;
let known = null;

/** Set up the forms, and drop and paste anywhere; `onOpened` is called with the number of games. */
export function setUpGames(onOpened) {
  const setUp = (text) =>
    attempt(async () => {
      const { games } = await command("set_up", { text });
      onOpened(games);
    });
  const open = (file) =>
    attempt(async () => {
      const name = [...file.name].slice(0, LONGEST_NAME).join("");
      const { games } = await openGames(name, file);
      onOpened(games);
    });
  const take = (text) => {
    const file = new File([text], "the text");
    return file.size < LONGEST_TEXT ? setUp(text) : open(file);
  };

  byId("set-up").addEventListener("submit", (event) => {
    event.preventDefault();
    take(byId("pasted").value);
  });
  byId("file").addEventListener("change", (event) => {
    if (event.target.files.length) open(event.target.files[0]);
    event.target.value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    const text = event.dataTransfer.getData("text");
    if (file) open(file);
    else if (text) take(text);
  });
  document.addEventListener("paste", (event) => {
    if (event.target.closest("input, textarea")) return;
    const [file] = event.clipboardData.files;
    const text = event.clipboardData.getData("text");
    if (file) open(file);
    else if (text.trim()) take(text);
  });
  byId("games-words").addEventListener("input", () => list(0));
  byId("games-more").addEventListener("click", () => list(first));
}

/** Show the list of games. */
export function showGames(games) {
  byId("games").hidden = games.count === 0;
  const title = `${games.name}: ${games.count} ${games.count === 1 ? "game" : "games"}`;
  byId("games-name").textContent = title;
  const isOther = known?.list !== games.list;
  known = games;
  if (games.count && isOther) list(0);
  else markOpened();
}

async function list(from) {
  const words = byId("games-words").value;
  await attempt(async () => {
    const { count, rows } = await command("list", { words, first: from });
    if (from && from !== first) return; // these are already here, or others are wanted by now
    first = from + rows.length;
    byId("games-more").hidden = first >= count;
    const body = rows.map(row);
    if (from) {
      byId("games-rows").querySelector("tbody").append(...body);
    } else {
      const titles = ["No.", "White", "Black", "Result", "Date", "Event", "Opening", "Moves"];
      const head = element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
      byId("games-rows").replaceChildren(
        element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
        ...(count ? [] : ["No game has these words in its tags."]),
      );
    }
    markOpened();
  });
}

function row({ number, tags, moves, fault }) {
  const open = () => attempt(() => command("open", { number }));
  const rated = (side) => [tags[side] ?? "?", tags[`${side}Elo`]].filter(Boolean).join(" ");
  const opening = element("button", { type: "button", "aria-label": `Open game ${number}`, onclick: open }, number);
  const cells = [rated("White"), rated("Black"), tags.Result ?? "*", tags.Date, tags.Event, tags.ECO];
  const count = `${Math.ceil(moves / 2)}${fault ? " (damaged)" : ""}`;
  return element(
    "tr",
    { "data-game": number, title: fault || null },
    element("td", {}, opening),
    ...cells.map((text) => element("td", {}, text ?? "")),
    element("td", {}, count),
  );
}

function markOpened() {
  for (const row of byId("games-rows").querySelectorAll("tr[data-game]")) {
    if (Number(row.dataset.game) === known?.opened) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}
