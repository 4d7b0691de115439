// Elements of the page.

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
  made.append(...children);
  return made;
}

/** Show a text in an element, or hide it if there is none. */
export function tell(target, text) {
  target.textContent = text;
  target.hidden = !text;
}

/** A count in a few digits. */
export function number(value) {
  if (value < 10000) return String(value);
  if (value < 1e6) return `${(value / 1e3).toFixed(0)} k`;
  return `${(value / 1e6).toFixed(2)} M`;
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
