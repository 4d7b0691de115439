// The viewer of reviewed games (moff/review/report.py). Positions, texts and figures come from Moff; text
// is only ever shown as text.
"use strict";
(() => {
  const NAMES = { "?!": "inaccuracy", "?": "mistake", "??": "blunder" };
  const SVG = "http://www.w3.org/2000/svg";
  const games = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };

  // What is shown: a game, how many of its moves are played, and how many of a better line instead of the last one.
  let game = games[0];
  let number = 0;
  let ply = 0;
  let better = 0;
  let flipped = false;

  // --- The boards, light and dark: pictures by moff/picture/picture.py, whose pieces are rearranged.

  const boards = [...document.querySelectorAll(".board svg")].map((svg) => {
    const find = (layer) => svg.querySelector(`[data-layer="${layer}"]`);
    const drawings = {};
    for (const piece of svg.querySelectorAll("[data-piece]")) drawings[piece.dataset.piece] = piece;
    const corner = (name) => {
      const place = svg.querySelector(`[data-square="${name}"][data-piece]`).getAttribute("transform");
      return place.match(/-?\d+/g).map(Number);
    };
    const [left, bottom] = corner("a1");
    const [, top] = corner("a8");
    const texts = [...find("coordinates").querySelectorAll("text")];
    return {
      svg, drawings, left, top, size: (bottom - top) / 7,
      white: find("white"), black: find("black"), squares: find("last-move"), arrows: find("arrows"),
      texts, names: texts.map((text) => text.textContent),
      title: svg.querySelector("title"), description: svg.querySelector("desc"),
    };
  });

  const cornerOf = (board, square) => {
    const file = square.charCodeAt(0) - 97, rank = square.charCodeAt(1) - 49;
    return [
      board.left + board.size * (flipped ? 7 - file : file),
      board.top + board.size * (flipped ? rank : 7 - rank),
    ];
  };

  const piecesOf = (placement) => {
    const found = [];
    placement.split("/").forEach((row, index) => {
      let file = 0;
      for (const character of row) {
        if (character >= "1" && character <= "8") file += Number(character);
        else found.push([character, "abcdefgh"[file++] + (8 - index)]);
      }
    });
    return found;
  };

  const arrowPath = (board, move) => {
    const half = board.size / 2;
    const [x1, y1] = cornerOf(board, move.slice(0, 2)).map((value) => value + half);
    const [x2, y2] = cornerOf(board, move.slice(2, 4)).map((value) => value + half);
    const length = Math.hypot(x2 - x1, y2 - y1), a = (x2 - x1) / length, b = (y2 - y1) / length;
    const at = (along, across) => `${(x1 + a * along - b * across).toFixed(1)} ${(y1 + b * along + a * across).toFixed(1)}`;
    const neck = length - 34;
    return `M${at(22, 7)}L${at(neck, 7)}L${at(neck, 20)}L${at(length, 0)}L${at(neck, -20)}L${at(neck, -7)}L${at(22, -7)}z`;
  };

  const draw = (placement, move, arrow, title) => {
    const pieces = piecesOf(placement);
    const side = (test) => pieces.filter(([piece]) => test(piece)).map(([piece, square]) =>
      (piece.toUpperCase() === "P" ? "" : piece.toUpperCase()) + square).join(" ");
    const words = `White: ${side((p) => p < "a")}. Black: ${side((p) => p > "Z")}.`;
    for (const board of boards) {
      const fill = (layer, isWhite) => layer.replaceChildren(...pieces
        .filter(([piece]) => (piece < "a") === isWhite)
        .map(([piece, square]) => {
          const drawn = board.drawings[piece].cloneNode(true);
          drawn.setAttribute("transform", `translate(${cornerOf(board, square).join(" ")})`);
          drawn.dataset.square = square;
          return drawn;
        }));
      fill(board.white, true);
      fill(board.black, false);
      [...board.squares.children].forEach((rect, index) => {
        rect.setAttribute("opacity", move ? 1 : 0);
        if (!move) return;
        const [x, y] = cornerOf(board, move.slice(2 * index, 2 * index + 2));
        rect.setAttribute("x", x);
        rect.setAttribute("y", y);
      });
      board.arrows.firstElementChild.setAttribute("d", arrow ? arrowPath(board, arrow) : "");
      board.texts.forEach((text, index) => {
        const start = index < 8 ? 0 : 8;
        text.textContent = board.names[flipped ? start + 7 - (index - start) : index];
      });
      board.title.textContent = title;
      board.description.textContent = words;
    }
  };

  // --- Words.

  const isBlack = (index) => (index + (game.blackFirst ? 1 : 0)) % 2 === 1;
  const numberOf = (index) => game.number + Math.floor((index + (game.blackFirst ? 1 : 0)) / 2);
  const label = (index) => `${numberOf(index)}${isBlack(index) ? "…" : "."}`;
  const signed = (pawns) => (pawns === "#0" ? "mate" : pawns.startsWith("#") || pawns.startsWith("-") || pawns === "0.00" ? pawns : `+${pawns}`)
    .replace("-", "−");
  const chance = (perMille) => `${Math.round(perMille / 10)} %`;
  const lineText = (index, steps) => steps.map((step, k) =>
    (k === 0 || !isBlack(index + k) ? `${label(index + k)} ` : "") + step.s).join(" ");

  const describe = () => {
    if (ply === 0) return `Start. White's win probability: ${chance(game.start.win)}.`;
    const index = ply - 1, move = game.moves[index];
    if (better) return `Better: ${lineText(index, move.b.slice(0, better))}`;
    const words = [`${label(index)} ${move.s}${move.m || ""} (${signed(move.e)}).`];
    if (move.m) words.push(`${NAMES[move.m][0].toUpperCase()}${NAMES[move.m].slice(1)}: loses ${move.l} % win probability.`);
    if (move.b && move.b.length) words.push(`Better: ${lineText(index, move.b)}.`);
    words.push(`White's win probability: ${chance(move.w)}.`);
    return words.join(" ");
  };

  // --- Display.

  const show = () => {
    const move = ply ? game.moves[ply - 1] : null;
    const step = better ? move.b[better - 1] : move;
    const arrow = move && !better && move.b && move.b.length ? move.b[0].u : "";
    const text = describe();
    draw(step ? step.f : game.start.fen, step ? step.u : "", arrow, step ? `Position after ${step.s}` : "Position before the first move");
    $("status").textContent = text;
    $("ply").value = ply;
    $("ply").setAttribute("aria-valuetext", text);
    const x = game.moves.length ? 1000 * ply / game.moves.length : 0;
    document.querySelector("#curve .here").setAttribute("d", `M${x.toFixed(1)} -16V276`);
    for (const button of document.querySelectorAll("#moves [aria-current]")) button.removeAttribute("aria-current");
    const button = document.querySelector(`#moves [data-ply="${ply}"][data-better="${better}"]`);
    if (button) {
      button.setAttribute("aria-current", "true");
      const box = $("moves").parentElement, place = button.getBoundingClientRect(), frame = box.getBoundingClientRect();
      if (place.top < frame.top + 40) box.scrollTop -= frame.top + 40 - place.top;
      if (place.bottom > frame.bottom) box.scrollTop += place.bottom - frame.bottom;
    }
    $("first").disabled = $("back").disabled = ply === 0;
    $("forward").disabled = $("last").disabled = ply === game.moves.length && !better;
  };

  const go = (to, line = 0) => {
    ply = Math.max(0, Math.min(game.moves.length, to));
    better = line;
    show();
  };
  const forward = () => {
    if (!better) go(ply + 1);
    else if (better < game.moves[ply - 1].b.length) go(ply, better + 1);
  };
  const back = () => (better ? go(ply, better - 1) : go(ply - 1));
  const nextMark = () => {
    for (let index = ply; index < game.moves.length; index++) if (game.moves[index].m) return go(index + 1);
  };
  const flip = () => {
    flipped = !flipped;
    $("flip").setAttribute("aria-pressed", flipped);
    show();
  };

  // --- A game.

  const moveButton = (text, to, line, name) => {
    const button = make("button", text, name);
    button.type = "button";
    button.dataset.ply = to;
    button.dataset.better = line;
    return button;
  };

  const notes = (index) => {
    const move = game.moves[index];
    const found = [];
    if (move.b && move.b.length) {
      const line = make("p", `${label(index)} ${move.s}${move.m} `, "better");
      line.append(make("span", `loses ${move.l} %, better: `));
      move.b.forEach((step, k) => {
        const prefix = k === 0 || !isBlack(index + k) ? `${label(index + k)} ` : "";
        line.append(moveButton(prefix + step.s, index + 1, k + 1, "step"), " ");
      });
      found.push(line);
    }
    if (move.c) found.push(make("p", `${label(index)} ${move.s}: ${move.c}`, "comment"));
    return found;
  };

  const listMoves = () => {
    const body = $("moves").tBodies[0];
    const rows = [];
    const addNotes = (found) => {
      if (!found.length) return;
      const row = make("tr", undefined, "note");
      const cell = make("td");
      cell.colSpan = 5;
      cell.append(...found);
      row.append(cell);
      rows.push(row);
    };
    if (game.start.comment) addNotes([make("p", game.start.comment, "comment")]);
    for (let index = 0; index < game.moves.length;) {
      const row = make("tr");
      const cell = make("th", String(numberOf(index)));
      cell.scope = "row";
      row.append(cell);
      const pair = [];
      if (isBlack(index)) row.append(make("td", "…"), make("td"));
      do pair.push(index); while (!isBlack(index++) && index < game.moves.length);
      for (const at of pair) {
        const move = game.moves[at];
        const played = make("td");
        const button = moveButton(move.s + (move.m || ""), at + 1, 0, move.m ? `marked ${NAMES[move.m]}` : "");
        if (move.m) button.setAttribute("aria-label", `${move.s}, ${NAMES[move.m]}`);
        played.append(button);
        row.append(played, make("td", signed(move.e)));
      }
      rows.push(row);
      addNotes(pair.flatMap(notes));
    }
    body.replaceChildren(...rows);
  };

  const drawCurve = () => {
    const count = Math.max(1, game.moves.length);
    const y = (win) => (260 - 0.26 * win).toFixed(1);
    const points = [`0 ${y(game.start.win)}`, ...game.moves.map((move, index) => `${(1000 * (index + 1) / count).toFixed(1)} ${y(move.w)}`)];
    if (points.length === 1) points.push(`1000 ${y(game.start.win)}`);
    document.querySelector("#curve .line").setAttribute("d", `M${points.join("L")}`);
    document.querySelector("#curve .white").setAttribute("d", `M0 276L${points.join("L")}L1000 276z`);
    document.querySelector("#curve .marks").replaceChildren(...game.moves.flatMap((move, index) => {
      if (!move.m) return [];
      const dot = document.createElementNS(SVG, "circle");
      dot.setAttribute("cx", (1000 * (index + 1) / count).toFixed(1));
      dot.setAttribute("cy", y(move.w));
      dot.setAttribute("r", { "?!": 6, "?": 9, "??": 12 }[move.m]);
      dot.setAttribute("class", NAMES[move.m]);
      return [dot];
    }));
  };

  const open = (index) => {
    number = index;
    game = games[index];
    const tags = game.tags;
    const name = (side) => `${tags[side] || "?"}${tags[`${side}Elo`] ? ` (${tags[`${side}Elo`]})` : ""}`;
    $("players").textContent = `${name("White")} – ${name("Black")}  ${game.result}`;
    const details = ["Event", "Site", "Round", "Date"].filter((tag) => tags[tag]).map((tag) => (tag === "Round" ? `round ${tags.Round}` : tags[tag]));
    const totals = game.totals.map(([accuracy, loss], side) => `${side ? "Black" : "White"} ${accuracy}, mean loss ${loss}`);
    $("details").replaceChildren(...[details.join(", "), game.opening, `Accuracy: ${totals.join("; ")}`, ...game.faults.map((fault) => `Damaged, ${fault}`)]
      .filter(Boolean).map((text) => make("span", text)));
    $("ply").max = game.moves.length;
    $("previous-game").disabled = index === 0;
    $("next-game").disabled = index === games.length - 1;
    for (const row of $("games").tBodies[0].rows) row.classList.toggle("current", row.rowIndex === index + 1);
    listMoves();
    drawCurve();
    $("moves").parentElement.scrollTop = 0;
    go(0);
  };

  const select = (index) => {
    if (index < 0 || index >= games.length) return;
    history.replaceState(null, "", `#game-${index + 1}`);
    open(index);
  };
  const openAddress = () => {
    const found = location.hash.match(/^#game-(\d+)$/);
    const index = found ? Number(found[1]) - 1 : 0;
    open(index >= 0 && index < games.length ? index : 0);
    if (found) $("players").focus({ preventScroll: true });
    if (found) $("viewer").scrollIntoView();
  };

  // --- Input.

  const actions = {
    "first": () => go(0), "back": back, "forward": forward, "last": () => go(game.moves.length),
    "next-mark": nextMark, "flip": flip,
    "previous-game": () => select(number - 1), "next-game": () => select(number + 1),
  };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  $("ply").addEventListener("input", () => go(Number($("ply").value)));
  $("moves").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) go(Number(button.dataset.ply), Number(button.dataset.better));
  });
  $("curve").addEventListener("click", (event) => {
    const frame = $("curve").getBoundingClientRect();
    go(Math.round(game.moves.length * (event.clientX - frame.left) / frame.width));
  });
  const keys = {
    ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", m: "next-mark", f: "flip",
    n: "next-game", p: "previous-game",
  };
  document.addEventListener("keydown", (event) => {
    const id = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!id || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key.length > 1 && event.target.matches("input, .scroll")) return; // they move by themselves
    event.preventDefault();
    actions[id]();
  });
  window.addEventListener("hashchange", openAddress);
  if (games.length) {
    $("viewer").hidden = false;
    openAddress();
  }
})();
