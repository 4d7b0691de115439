// How the page and Moff talk: commands are posted, changes are streamed. In a report, all data is in the page.

import { TEXTS } from "./texts.js";

const TOPICS = ["tree", "state", "lines", "games"];

/** The name of this tab: it stays when the page is reloaded, and every tab has its own. */
export const tab = tabName();

function tabName() {
  let name = null;
  try {
    name = sessionStorage.getItem("tab");
  } catch {
    // Without storage, a reload starts from scratch.
  }
  if (!name) {
    name = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    try {
      sessionStorage.setItem("tab", name);
    } catch {
      // As above.
    }
  }
  return name;
}

/** Listen to the stream: `onTopic(topic, value)` for every change, `onStatus(text)` for the connection itself. */
export function connect(onTopic, onStatus) {
  const source = new EventSource(`events?tab=${tab}`);
  for (const topic of TOPICS) {
    source.addEventListener(topic, (event) => onTopic(topic, JSON.parse(event.data)));
  }
  source.onopen = () => onStatus("");
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) {
      onStatus(TEXTS.refused);
      setTimeout(() => connect(onTopic, onStatus), 3000);
    } else {
      onStatus(TEXTS.lost);
    }
  };
}

/** Carry out a command; returns its answer. Throws an Error with the reason if it is refused. */
export function send(name, values = {}) {
  return post(`do?tab=${tab}`, JSON.stringify({ name, ...values }));
}

/** Open the games of a file. */
export function openGames(name, content) {
  return post(`games?tab=${tab}&name=${encodeURIComponent(name)}`, content);
}

/** The game on the board as PGN. */
export async function gameText() {
  const response = await fetch(`game.pgn?tab=${tab}`);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.text();
}

// Requests sent in parallel may arrive in another order, and the last click must win.
let last = Promise.resolve();

function post(address, body) {
  const answered = last.then(() => answer(address, body));
  last = answered.catch(() => {});
  return answered;
}

async function answer(address, body) {
  let response;
  try {
    response = await fetch(address, { method: "POST", body });
  } catch {
    throw new Error(TEXTS.silent);
  }
  if (!response.ok) throw new Error((await response.text()).trim());
  const value = await response.json();
  if (value.error) throw new Error(value.error);
  return value;
}
