// Messages about refused commands.

import { tell } from "./dom.js";

const SHOWN = 8000; // milliseconds

let general = null;
let timer = 0;

/** The place for messages that belong to no field. */
export function setUpComplaints(place) {
  general = place;
}

/** Show why something was refused, beside the field it is about, if there is one. */
export function complain(text, place = general) {
  tell(place, text);
  if (place !== general) return;
  clearTimeout(timer);
  timer = setTimeout(() => tell(general, ""), SHOWN);
}

/** Do something; if it is refused, show why. Returns whether it was done. */
export async function attempt(action, place = general) {
  try {
    await action();
    tell(place, "");
    return true;
  } catch (error) {
    complain(error.message, place);
    return false;
  }
}
