// Elements of the page.

import { drawIcon } from "./icons.js";

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** A new element with attributes ("on…" for listeners, true for empty ones) and children. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** A new SVG element. */
export function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null && child !== false));
  return made;
}

/** An icon. */
export function icon(name) {
  return drawing("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, drawing("path", { d: drawIcon(name) }));
}

/** A button with an icon above its name. */
export function command(id, name, text, action, title = "") {
  const label = element("span", {}, text);
  return element("button", { type: "button", class: "command", id, title: title || null, onclick: action }, icon(name), label);
}

/** A button with an icon alone; the text is its name and its hint. */
export function iconButton(id, name, text, action) {
  return element(
    "button",
    { type: "button", class: "icon-button", id, "aria-label": text, title: text, onclick: action },
    icon(name),
  );
}

/** Show a text in an element, or hide it if there is none. */
export function tell(target, text) {
  if (target.textContent !== text) target.textContent = text;
  target.hidden = !text;
}

/** A count in a few digits. */
export function number(value) {
  if (value < 10000) return String(value);
  if (value < 1e6) return `${(value / 1e3).toFixed(0)} k`;
  return `${(value / 1e6).toFixed(2)} M`;
}

/** Give a place `count` parts, keeping existing ones: removing them would lose the focus, and a click between
 * press and release. `made()` returns the nodes of a part, an element first.
 */
export function resize(place, count, made) {
  while (place.children.length > count) {
    while (place.lastChild !== place.lastElementChild) place.lastChild.remove();
    place.lastElementChild.remove();
  }
  while (place.children.length < count) place.append(...made());
}

/** Copy a text to the clipboard; returns whether that worked. */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A dialog over the page, closed by its button, Escape, or a press beside it; `content` are its children. */
export function sheet(id, title, closeText, ...content) {
  const heading = element("h2", { id: `${id}-title` }, title);
  const made = element(
    "dialog",
    { id, class: "sheet", "aria-labelledby": `${id}-title` },
    element("header", {}, heading, iconButton(`${id}-close`, "close", closeText, () => made.close())),
    ...content,
  );
  made.addEventListener("pointerdown", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}

/** Ask a question; returns whether the answer was yes. */
export function confirmed(question, yes, no) {
  return new Promise((resolve) => {
    const made = element(
      "dialog",
      { class: "question", "aria-label": question },
      element("p", {}, question),
      element(
        "div",
        { class: "row" },
        element("button", { type: "button", class: "primary", onclick: () => made.close("yes") }, yes),
        element("button", { type: "button", onclick: () => made.close("") }, no),
      ),
    );
    made.addEventListener("close", () => {
      made.remove();
      resolve(made.returnValue === "yes");
    });
    document.body.append(made);
    made.showModal();
  });
}
