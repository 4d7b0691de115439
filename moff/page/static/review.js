// The review of a game: its progress, the summary of both sides, and the lesson made of the mistakes.

import { attempt } from "./complaint.js";
import { send } from "./connection.js";
import { element, icon, iconButton, tell } from "./dom.js";
import { moveText } from "./pieces.js";
import { TEXTS } from "./texts.js";

const SIDE_NAMES = ["White", "Black"];
const isNarrow = matchMedia("(max-aspect-ratio: 1/1), (max-height: 500px)");
const BAD = ["?!", "?", "??"];

export class ReviewPanel {
  /** `onChoose(node)` is called to show a move, `onMistake(step)` to go to another mistake; `canLearn` is false in a
   * report.
   */
  constructor(place, onChoose, onMistake, canLearn) {
    this.place = place;
    this.onChoose = onChoose;
    this.onMistake = onMistake;
    this.canLearn = canLearn;
    this.progress = element("div", { id: "review-progress", class: "row", hidden: true });
    this.bar = element("progress", { "aria-label": TEXTS.review, max: 1 });
    this.progressText = element("span", {});
    this.progress.append(this.bar, this.progressText,
      element("button", { type: "button", id: "review-stop", onclick: () => attempt(() => send("stop_review")) }, TEXTS.stop));
    this.summary = element("details", { id: "summary", class: "card", open: !isNarrow.matches, hidden: true });
    this.lesson = element("div", { id: "lesson", class: "card", hidden: true });
    place.append(this.progress, this.lesson, this.summary);
  }

  /** Show how far a review has come: {done, total, left}, or null if none is running. */
  showProgress(review) {
    this.progress.hidden = !review;
    if (!review) return;
    this.bar.value = review.done / Math.max(1, review.total);
    this.progressText.textContent = TEXTS.reviewing(review.done, review.total, review.left);
  }

  /** Show the summary of a reviewed tree. */
  showSummary(tree) {
    const { summary } = tree;
    this.summary.hidden = !summary;
    if (!summary) return;
    const text = JSON.stringify(summary);
    if (text === this.summaryText) return;
    this.summaryText = text;
    const columns = [TEXTS.accuracy, TEXTS.loss, "?!", "?", "??"].map((text) =>
      TEXTS.marks[text]
        ? element("th", { scope: "col", class: "glyph", "data-glyph": text, "aria-label": TEXTS.marks[text], title: TEXTS.marks[text] }, text)
        : element("th", { scope: "col" }, text),
    );
    const rows = summary.sides.map((side, index) => {
      const name = tree.tags[SIDE_NAMES[index]] ?? TEXTS[SIDE_NAMES[index].toLowerCase()];
      const cells = [side.accuracy === null ? "–" : `${side.accuracy} %`, side.loss ?? "–", ...side.marks];
      return element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, String(cell))));
    });
    const moments = summary.moments.map(({ node, loss }) => {
      const move = tree.byNode.get(node);
      return element("button", { type: "button", class: "chip", "data-moment": node, onclick: () => this.onChoose(node) },
        `${move.turn} `, moveText(move.san), element("span", { class: "glyph", "data-glyph": move.glyph }, move.glyph),
        element("span", { class: "quiet" }, ` ${TEXTS.moment(loss)}`));
    });
    const lessons = summary.sides.flatMap((side, index) => {
      const count = side.marks.reduce((sum, marks) => sum + marks, 0);
      const name = index ? TEXTS.black : TEXTS.white;
      if (!this.canLearn || !count) return [];
      const learn = () => attempt(() => send("learn", { side: name.toLowerCase() }));
      return [element("button", { type: "button", class: "chip", id: `learn-${name.toLowerCase()}`, onclick: learn },
        icon("learn"), ` ${TEXTS.learnAs(name, count)}`)];
    });
    const list = (label, parts) => parts.length ? element("p", { class: "row" }, element("span", { class: "quiet" }, label), ...parts) : null;
    this.summary.replaceChildren(...[
      element("summary", {}, `${TEXTS.review} `, element("span", { class: "quiet" }, summary.sides.map((side) => `${side.accuracy ?? "–"} %`).join(" – "))),
      element("table", { class: "totals" },
        element("thead", {}, element("tr", {}, element("td", {}), ...columns)),
        element("tbody", {}, ...rows)),
      list(TEXTS.moments, moments.length ? [
        ...moments,
        iconButton("previous-mistake", "alertBack", TEXTS.previousMistake, () => this.onMistake(-1)),
        iconButton("next-mistake", "alert", TEXTS.nextMistake, () => this.onMistake(1)),
      ] : []),
      list(TEXTS.learnTitle, lessons),
    ].filter(Boolean));
  }

  /** Show the lesson, or hide it if there is none. */
  showLesson(lesson) {
    this.lesson.hidden = !lesson;
    if (!lesson) return;
    const text = JSON.stringify(lesson);
    if (text === this.lessonText) return;
    this.lessonText = text;
    const run = (what) => () => attempt(() => send("lesson", { what }));
    const button = (what, label, isPrimary) =>
      element("button", { type: "button", id: `lesson-${what}`, class: isPrimary ? "primary" : null, onclick: run(what) }, label);
    const { status } = lesson;
    const isDone = status === "good" || status === "solution";
    const ask = element("p", { id: "lesson-task" });
    tell(ask, status === "over" ? TEXTS.lessonOver(lesson.solved, lesson.total)
      : TEXTS.learnAsk(lesson.side, lesson.played, lesson.number, lesson.total));
    const verdict = element("p", { id: "lesson-verdict", "data-status": status, role: "status" });
    tell(verdict, {
      looking: () => TEXTS.lookingAt(lesson.tried),
      good: () => TEXTS.goodMove(lesson.tried, lesson.best),
      played: () => TEXTS.playedMove(lesson.tried),
      bad: () => TEXTS.badMove(lesson.tried, lesson.loss),
      solution: () => TEXTS.solution(lesson.best),
    }[status]?.() ?? "");
    this.lesson.replaceChildren(
      element("h3", {}, TEXTS.learnTitle), ask, verdict,
      element("div", { class: "row" },
        isDone ? button("next", TEXTS.nextTask, true) : null,
        !isDone && status !== "over" ? button("solution", TEXTS.showSolution) : null,
        button("end", TEXTS.endLesson)));
  }
}

/** The nearest marked move of the main line after or before a node; 0 if there is none. */
export function mistakeBeside(tree, node, step) {
  const marked = tree.main.map((move, index) => (BAD.includes(move.glyph) ? index : -1)).filter((index) => index > 0);
  let here = tree.byNode.get(node);
  while (here.node && tree.main.indexOf(here) < 0) here = tree.byNode.get(here.parent);
  const at = tree.main.indexOf(here);
  const found = step > 0 ? marked.find((index) => index > at) : marked.findLast((index) => index < at);
  return found === undefined ? 0 : tree.main[found].node;
}
