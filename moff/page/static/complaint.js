// Messages about refused commands.

import { byId, tell } from "./dom.js";

const SHOWN = 8000; // milliseconds

let timer = 0;

/** Show why something was refused. */
export function complain(text) {
  tell(byId("complaint"), text);
  clearTimeout(timer);
  timer = setTimeout(() => tell(byId("complaint"), ""), SHOWN);
}

/** Do something; if it is refused, show why. Returns whether it was done. */
export async function attempt(action) {
  try {
    await action();
    tell(byId("complaint"), "");
    return true;
  } catch (error) {
    complain(error.message);
    return false;
  }
}
