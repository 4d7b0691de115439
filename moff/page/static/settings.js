// The settings, and the keys.

import { attempt } from "./complaint.js";
import { send } from "./connection.js";
import { element, sheet } from "./dom.js";
import { TEXTS } from "./texts.js";

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", applySettings);

const stored = { theme: "auto", board: "auto", coordinates: "on", notation: "letters", sounds: "off" };

/** A setting of this browser. */
export function setting(name) {
  try {
    return localStorage.getItem(name) ?? stored[name];
  } catch {
    return stored[name]; // without storage, settings last until the page is closed
  }
}

function keep(name, value) {
  stored[name] = value;
  try {
    localStorage.setItem(name, value);
  } catch {
    // As above.
  }
}

/** Put the settings into effect. */
export function applySettings() {
  const root = document.documentElement;
  for (const name of ["theme", "board", "coordinates", "notation"]) root.dataset[name] = setting(name);
  const isDark = setting("theme") === "dark" || (setting("theme") === "auto" && prefersDark.matches);
  if (setting("board") === "auto") root.dataset.board = isDark ? "night" : "slate";
}

/** Build the sheet; `onNotation()` is called when moves must be drawn anew, `engine` adds the engine's settings. */
export function setUpSettings(onNotation, engine) {
  const choice = (name, label, options, onChange = () => {}) => {
    const select = element(
      "select",
      { id: `set-${name}`, onchange: () => { keep(name, select.value); applySettings(); onChange(); } },
      ...Object.entries(options).map(([value, text]) => element("option", { value, selected: value === setting(name) }, text)),
    );
    return element("label", {}, label, select);
  };
  const check = (name, label, [off, on], onChange = () => {}) => {
    const box = element("input", {
      type: "checkbox", id: `set-${name}`, checked: setting(name) === on,
      onchange: () => { keep(name, box.checked ? on : off); applySettings(); onChange(); },
    });
    return element("label", { class: "check" }, box, label);
  };
  const content = [
    element("div", { class: "settings" },
      choice("theme", TEXTS.theme, TEXTS.themes),
      choice("board", TEXTS.squares, TEXTS.boards),
      check("coordinates", TEXTS.coordinates, ["off", "on"]),
      check("notation", TEXTS.figurines, ["letters", "figurines"], onNotation),
      engine ? check("sounds", TEXTS.sounds, ["off", "on"]) : null,
    ),
  ];
  let shownEngine = () => {};
  if (engine) {
    const threads = element("input", { type: "number", id: "set-threads", min: 1, step: 1, onchange: () => set({ threads: threads.valueAsNumber }) });
    const sizes = [16, 32, 64, 128, 256, 512, 1024, 2048];
    const hash = element("select", { id: "set-hash", onchange: () => set({ hash: Number(hash.value) }) },
      ...sizes.map((size) => element("option", { value: size }, TEXTS.megabytes(size))));
    const complaint = element("p", { class: "complaint", role: "alert", hidden: true });
    const set = (values) => attempt(() => send("engine", values), complaint);
    content.push(
      element("h3", {}, TEXTS.engine),
      element("div", { class: "settings" }, element("label", {}, TEXTS.threads, threads), element("label", {}, TEXTS.hash, hash)),
      complaint,
    );
    shownEngine = (state) => {
      threads.max = state.engine.processors;
      if (document.activeElement !== threads) threads.value = state.engine.threads;
      hash.value = String(state.engine.hash);
    };
  }
  const rows = TEXTS.keyList.map(([key, text]) => element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, text)));
  content.push(element("h3", {}, TEXTS.keys), element("table", { class: "keys" }, element("tbody", {}, ...rows)));
  return { dialog: sheet("settings", TEXTS.settings, TEXTS.close, ...content), show: (state) => shownEngine(state) };
}

// Sounds, made here: a short knock for a move, a lower one for a capture, two for the end.

let audio = null;

/** Make a sound, if sounds are on: "move", "capture" or "end". */
export function sound(kind) {
  if (setting("sounds") !== "on") return;
  audio ??= new AudioContext();
  const knock = (frequency, at) => {
    const tone = audio.createOscillator();
    const gain = audio.createGain();
    tone.type = "triangle";
    tone.frequency.setValueAtTime(frequency, at);
    tone.frequency.exponentialRampToValueAtTime(frequency / 3, at + 0.08);
    gain.gain.setValueAtTime(0.4, at);
    gain.gain.exponentialRampToValueAtTime(0.001, at + 0.12);
    tone.connect(gain).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.13);
  };
  const now = audio.currentTime;
  knock(kind === "capture" ? 220 : 420, now);
  if (kind === "end") knock(300, now + 0.18);
}
