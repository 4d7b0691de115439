// Arrows and circles on a board of 800 by 800 units.

import { drawing } from "./dom.js";
import { FILES } from "./pieces.js";

const SHAFT = 7;
const HEAD = 20;
const LENGTH = 34;
const START = 22;

/** The centre of a square. */
function centre(square, isFlipped) {
  const column = FILES.indexOf(square[0]);
  const row = 8 - Number(square[1]);
  return isFlipped ? [750 - 100 * column, 750 - 100 * row] : [50 + 100 * column, 50 + 100 * row];
}

/** The outline of an arrow: as a knight moves, it has a bend after the longer leg. */
function outline([x, y], [toX, toY]) {
  const across = toX - x;
  const down = toY - y;
  const legs = [Math.abs(across), Math.abs(down)].sort((a, b) => a - b);
  const bend = legs[0] === 100 && legs[1] === 200 ? (legs[1] === Math.abs(across) ? [toX, y] : [x, toY]) : null;
  const unit = (from, to) => {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    return [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  };
  const first = unit([x, y], bend ?? [toX, toY]);
  const last = unit(bend ?? [x, y], [toX, toY]);
  const at = ([px, py], [dx, dy], along, aside) => [px + dx * along - dy * aside, py + dy * along + dx * aside];
  const neck = at([toX, toY], last, -LENGTH, 0);
  const left = [at([x, y], first, START, SHAFT)];
  const right = [at([x, y], first, START, -SHAFT)];
  if (bend) {
    const aside = [-first[1] - last[1], first[0] + last[0]];
    left.push([bend[0] + SHAFT * aside[0], bend[1] + SHAFT * aside[1]]);
    right.push([bend[0] - SHAFT * aside[0], bend[1] - SHAFT * aside[1]]);
  }
  const points = [
    ...left, at(neck, last, 0, SHAFT), at(neck, last, 0, HEAD), [toX, toY],
    at(neck, last, 0, -HEAD), at(neck, last, 0, -SHAFT), ...right.reverse(),
  ];
  return `M${points.map((point) => point.map((value) => value.toFixed(1)).join(" ")).join("L")}z`;
}

/** An arrow, or a circle if both squares are the same. */
export function shape(origin, target, colour, name, isFlipped) {
  const attributes = { "data-arrow": origin === target ? origin : origin + target, "data-name": name, "data-colour": colour };
  if (origin === target) {
    const [cx, cy] = centre(origin, isFlipped);
    return drawing("circle", { ...attributes, cx, cy, r: 44 });
  }
  return drawing("path", { ...attributes, d: outline(centre(origin, isFlipped), centre(target, isFlipped)) });
}
