// The part of the report that answers to the hand. All text goes into the page as text nodes, never as HTML; nothing is
// fetched. Without scripts the section stays hidden and the rest of the report is whole.
(function () {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const HTML = "http://www.w3.org/1999/xhtml", SVG = "http://www.w3.org/2000/svg";
  const PAGE = 40, LISTED = 200;
  const YES = 1, NO = 0, UNREAD = null;

  function node(space, tag, attributes, children) {
    const made = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) made.setAttribute(name, value);
    }
    for (const child of [].concat(children === undefined ? [] : children)) {
      made.append(child instanceof Node ? child : String(child));
    }
    return made;
  }
  const html = (tag, attributes, children) => node(HTML, tag, attributes, children);
  const svg = (tag, attributes, children) => node(SVG, tag, attributes, children);

  function show(value, digits, signed) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const text = Math.abs(value).toFixed(digits);
    const zero = Number(text) === 0;
    return (value < 0 && !zero ? "−" : signed && !zero ? "+" : "") + text;
  }
  const spoken = (answer) => (answer === YES ? "yes" : answer === NO ? "no" : "not read");
  const counted = (n, word) => n + " " + word + (n === 1 ? "" : "s");

  // ---- every table of the page can be sorted, every named point says its name ------------------------------------

  function cellValue(row, column) {
    const text = row.cells[column] ? row.cells[column].textContent.trim() : "";
    const found = text.replace(/−/g, "-").match(/^[+-]?(\d+\.?\d*|\.\d+)/);
    return found ? Number(found[0]) : text === "–" ? null : text.toLowerCase();
  }

  function compare(one, other) {
    const missing = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
    if (missing(one) || missing(other)) return missing(one) - missing(other) || 0;
    if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
    return typeof one === "number" ? -1 : 1;
  }

  // Rows without a value stay last whichever way the others run.
  function ordered(rows, value, down) {
    const keyed = rows.map((row, place) => ({ row, place, key: value(row) }));
    const gone = (key) => key === null || key === undefined || Number.isNaN(key);
    keyed.sort((a, b) => {
      if (gone(a.key) || gone(b.key)) return gone(a.key) - gone(b.key) || a.place - b.place;
      return (down ? -1 : 1) * compare(a.key, b.key) || a.place - b.place;
    });
    return keyed.map((each) => each.row);
  }

  function headings(row, chosen) {
    Array.from(row.cells).forEach((cell, column) => {
      const button = html("button", { type: "button", class: "sort" }, cell.textContent);
      cell.textContent = "";
      cell.append(button);
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending" ||
          (cell.getAttribute("aria-sort") === null && cell.dataset.first === "down");
        mark(row, column, down);
        chosen(column, down);
      });
    });
  }

  function mark(row, column, down) {
    Array.from(row.cells).forEach((cell, place) => {
      if (place === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  document.querySelectorAll("div.scroll > table").forEach((table) => {
    if (!table.tHead || table.closest("#explorer")) return;
    headings(table.tHead.rows[0], (column, down) => {
      const body = table.tBodies[0];
      body.append(...ordered(Array.from(body.rows), (row) => cellValue(row, column), down));
    });
  });

  const hint = html("div", { class: "hint", hidden: "" });
  document.body.append(hint);
  function point(event) {
    const named = event.target instanceof Element ? event.target.closest(".named") : null;
    const title = named && named.querySelector(":scope > title");
    hint.hidden = !title;
    if (!title) return;
    hint.textContent = title.textContent;
    const room = document.documentElement.clientWidth - hint.offsetWidth - 4;
    hint.style.left = Math.max(4, Math.min(event.clientX + 12, room)) + "px";
    hint.style.top = event.clientY + 14 + "px";
  }
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);

  // ---- what is folded opens by a link and for a printer -----------------------------------------------------------

  const anchor = () => location.hash.slice(1).split("&")[0];
  function reveal() {
    const target = anchor() && byId(anchor());
    if (!target) return;
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target.scrollIntoView({ block: "start" });
  }
  window.addEventListener("hashchange", reveal);
  const more = document.querySelector(".contents details");
  if (more) document.addEventListener("click", (event) => {
    if (!more.contains(event.target) || event.target.closest("a")) more.open = false;
  });
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    folded.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((each) => { each.open = false; }));

  // ---- every table can be downloaded: the numbers behind its cells, as the run's files have them --------------------

  function csvCell(value) {
    const number = String(value).replace(/^−/, "-");
    let text = number !== "" && Number.isFinite(Number(number)) ? number : String(value);
    // a spreadsheet must not take what somebody wrote for a formula
    if (/^'*[=+\-@\t\r\n]/.test(text) && !Number.isFinite(Number(text))) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function linesOf(table) {
    const names = Array.from(table.tHead.rows[0].cells, (cell) => (cell.dataset.csv || cell.textContent).split("|"));
    const rows = Array.from(table.tBodies[0].rows).filter((row) => row.cells.length === names.length);
    return [names.flat(), ...rows.map((row) => Array.from(row.cells, (cell, column) => {
      const own = cell.dataset.csv === undefined ? [cell.textContent === "–" ? "" : cell.textContent] : cell.dataset.csv.split("|");
      return own.concat(Array(Math.max(0, names[column].length - own.length)).fill(""));
    }).flat())];
  }

  const file = (words) => words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") + ".csv";
  function downloads(scroll, lines) {
    const button = html("button", { type: "button" }, "Download as CSV");
    button.addEventListener("click", () => {
      const text = lines().map((line) => line.map(csvCell).join(",")).join("\n") + "\n";
      const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      const link = html("a", { href: address, download: file(scroll.getAttribute("aria-label")) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    });
    scroll.after(html("p", { class: "under" }, button));
  }
  document.querySelectorAll(".part div.scroll > table").forEach((table) => {
    if (table.tHead && table.id !== "x-questions") downloads(table.parentElement, () => linesOf(table));
  });

  // ---- the run's tables --------------------------------------------------------------------------------------------

  const source = byId("explorer-data"), root = byId("explorer");
  if (!source || !root) { reveal(); return; }
  const data = JSON.parse(source.textContent);
  const { magnitudes, zero, questions, targets } = data;
  const PLACE = root.closest("[id].part") ? root.closest("[id].part").id : root.id;
  const SPLITS = { e: "extraction", f: "fitting", t: "test" };
  const state = {
    at: zero, target: -1, split: "t", words: "", topic: "", level: "", only: "", column: 0, down: false,
    sorted: null, shown: PAGE, open: new Set(), targetColumn: null, targetDown: false,
  };

  const margin = (q, k) => { const kept = questions.margins[q][k]; return kept === null ? null : kept / 100; };
  const answer = (q, k) => { const kept = questions.margins[q][k]; return kept === null ? UNREAD : kept > 0 ? YES : NO; };
  const read01 = (text, q) => { const sign = text === null ? "-" : text[q]; return sign === "1" ? YES : sign === "0" ? NO : UNREAD; };
  const given = (t, q) => read01(targets[t].answers, q);
  const inSplit = (q) => !state.split || questions.split[q] === state.split;
  const every = questions.text.map((_, q) => q);
  const saidYes = every.map((q) => {
    let yes = 0, n = 0;
    targets.forEach((_, t) => { const said = given(t, q); if (said !== UNREAD) { n += 1; yes += said; } });
    return n ? yes / n : null;
  });

  function rate(k) {
    let yes = 0, n = 0, unread = 0;
    for (const q of every) {
      if (!inSplit(q)) continue;
      const said = answer(q, k);
      if (said === UNREAD) unread += 1; else { n += 1; yes += said; }
    }
    return { rate: n ? yes / n : null, n, unread };
  }

  // As the verdict compares: answered by the target, read both unsteered and at the setting.
  function agreement(t, k) {
    let n = 0, same = 0, only = 0, other = 0;
    for (const q of every) {
      if (!inSplit(q)) continue;
      const said = answer(q, k), its = given(t, q);
      if (its === UNREAD || said === UNREAD || answer(q, zero) === UNREAD) continue;
      n += 1;
      if (said === its) same += 1; else if (said === YES) only += 1; else other += 1;
    }
    return { n, share: n ? same / n : null, only, other };
  }

  function turned(k, into) {
    return every.filter((q) => inSplit(q) && answer(q, k) === into && answer(q, zero) === 1 - into);
  }

  // How far the subject's answer is from the others': with one target, its margin where the two answers differ.
  function against(q) {
    const said = answer(q, state.at);
    if (said === UNREAD) return null;
    if (state.target < 0) return saidYes[q] === null ? null : Math.abs(said - saidYes[q]);
    const its = given(state.target, q);
    return its === UNREAD ? null : (its === YES ? -1 : 1) * margin(q, state.at);
  }

  // ---- curves ------------------------------------------------------------------------------------------------------

  function frame(box, height, low, high, ends, label, words) {
    const width = Math.max(260, box.clientWidth || 600), left = 40, right = 14, top = 10, bottom = 34;
    const span = magnitudes[magnitudes.length - 1] - magnitudes[0] || 1;
    const x = (value) => left + (value - magnitudes[0]) / span * (width - left - right);
    const y = (value) => top + (high - value) / (high - low || 1) * (height - top - bottom);
    const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
    for (const value of ends) {
      drawn.append(
        svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }),
        svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, show(value, Number.isInteger(value) ? 0 : 1)),
      );
    }
    const steps = new Set([magnitudes[0], magnitudes[magnitudes.length - 1]]);
    if (x(0) - left > 60 && width - right - x(0) > 60) steps.add(0);
    for (const value of steps) {
      const place = value === magnitudes[0] ? "start" : value === magnitudes[magnitudes.length - 1] ? "end" : "middle";
      drawn.append(svg("text", { x: x(value), y: height - bottom + 15, "text-anchor": place }, show(value, 2, true)));
    }
    drawn.append(
      svg("text", { x: left, y: height - 4 }, label),
      svg("line", { x1: x(0), x2: x(0), y1: top, y2: height - bottom, class: "zero" }),
      svg("line", { x1: x(magnitudes[state.at]), x2: x(magnitudes[state.at]), y1: top, y2: height - bottom, class: "now" }),
    );
    box.replaceChildren(drawn);
    return { drawn, x, y, width, right };
  }

  function line(drawn, x, y, values) {
    let path = "", pen = false;
    values.forEach((value, k) => {
      if (value === null) { pen = false; return; }
      path += (pen ? "L" : "M") + x(magnitudes[k]).toFixed(1) + " " + y(value).toFixed(1);
      pen = true;
    });
    drawn.append(svg("path", { d: path, class: "curve" }));
  }

  function dot(drawn, x, y, words, more) {
    drawn.append(svg("circle", { cx: x, cy: y, r: 3.5, class: "named " + (more || "dot") }, svg("title", {}, words)));
  }

  let rates = [];
  function drawDial() {
    rates = magnitudes.map((_, k) => rate(k));
    const { drawn, x, y, width, right } = frame(
      byId("x-curve"), 210, 0, 1, [0, 0.5, 1], "magnitude (" + data.unit + ")",
      "Share of yes against the magnitude; the table of settings is read out by the slider",
    );
    targets.forEach((target) => {
      if (target.rate === null) return;
      const tick = { x1: width - right, x2: width - 2, y1: y(target.rate), y2: y(target.rate), class: "tick named" };
      drawn.append(svg("line", tick, svg("title", {}, target.name + ": yes rate " + show(target.rate, 2))));
    });
    line(drawn, x, y, rates.map((each) => each.rate));
    rates.forEach((each, k) => {
      if (each.rate === null) return;
      const words = show(magnitudes[k], 3, true) + ": yes " + show(each.rate, 2) + " of " + each.n + ", " + each.unread + " unread";
      dot(drawn, x(magnitudes[k]), y(each.rate), words, k === state.at ? "dot here" : "dot");
    });
  }

  function drawQuestion(box, q) {
    const own = questions.margins[q].map((_, k) => margin(q, k)), known = own.filter((value) => value !== null);
    const low = Math.min(0, ...known), high = Math.max(0, ...known);
    const { drawn, x, y } = frame(box, 170, low, high, [low, 0, high], "magnitude; above 0 the subject says yes",
      "Margin of yes over no against the magnitude");
    line(drawn, x, y, own);
    own.forEach((value, k) => {
      if (value !== null) dot(drawn, x(magnitudes[k]), y(value), "magnitude " + show(magnitudes[k], 3, true) + ": margin " + show(value, 2, true));
    });
    (questions.turns[q] || []).forEach((m) => dot(drawn, x(m), y(0), "turns at " + show(m, 3, true), "turn"));
  }

  // ---- the dial ----------------------------------------------------------------------------------------------------

  const dial = byId("x-dial");
  function turnTo(k) {
    state.at = Math.max(0, Math.min(magnitudes.length - 1, k));
    dial.value = state.at;
    byId("x-rate-said").textContent = "";
    state.shown = PAGE;
    drawAll();
  }

  function list(into, where, title) {
    const found = ordered(turned(state.at, into), (q) => Math.abs((questions.turns[q] || [9e9])[0]), false);
    byId(title).textContent = "Turned to " + spoken(into) + ": " + found.length;
    byId(where).replaceChildren(...found.slice(0, LISTED).map((q) => {
      const button = html("button", { type: "button", class: "plain" }, questions.text[q]);
      button.addEventListener("click", () => find(q));
      return html("li", {}, button);
    }));
    if (found.length > LISTED) byId(where).append(html("li", {}, "and " + (found.length - LISTED) + " more: filter the questions below"));
    return found.length;
  }

  function drawList() {
    const now = rate(state.at), yes = list(YES, "x-to-yes", "x-to-yes-title"), no = list(NO, "x-to-no", "x-to-no-title");
    const setting = "Magnitude " + show(magnitudes[state.at], 3, true);
    dial.setAttribute("aria-valuetext", setting + ", yes rate " + show(now.rate, 2));
    byId("x-value").textContent = show(magnitudes[state.at], 3, true);
    byId("x-yes").textContent = show(now.rate, 3);
    let said = setting + (state.at === zero ? " (unsteered)" : "") + ": the subject says yes to " + show(100 * now.rate, 1) + "% of " +
      counted(now.n, (SPLITS[state.split] ? SPLITS[state.split] + " " : "") + "question") + ", " + now.unread + " unread. Against the unsteered subject " +
      yes + " turned to yes and " + no + " to no.";
    if (state.target >= 0) {
      const target = targets[state.target], found = agreement(state.target, state.at);
      said += " With " + target.name + " it agrees on " + show(found.share, 3) + " of " + counted(found.n, "question") + ": it alone says yes to " +
        found.only + ", the target alone to " + found.other + ". " + target.why;
    }
    byId("x-turned").textContent = yes + " to yes, " + no + " to no";
    byId("x-said").textContent = said;
  }

  const TARGET_VALUES = [
    (t) => targets[t].name.toLowerCase(), (t) => targets[t].status, (t) => targets[t].rate,
    (t) => agreement(t, state.at).share, (t) => agreement(t, state.at).only, (t) => agreement(t, state.at).other,
    (t) => targets[t].magnitude,
  ];
  function drawTargets() {
    let order = targets.map((_, t) => t);
    if (state.targetColumn !== null) order = ordered(order, TARGET_VALUES[state.targetColumn], state.targetDown);
    byId("x-targets").tBodies[0].replaceChildren(...order.map((t) => {
      const target = targets[t], found = agreement(t, state.at);
      const button = html("button", { type: "button", class: "plain", "aria-pressed": String(t === state.target) }, target.name);
      button.addEventListener("click", () => choose(t));
      const cells = [
        target.status, show(target.rate, 2), show(found.share, 3), found.only, found.other, show(target.magnitude, 3, true),
      ].map((text) => html("td", {}, text));
      cells[0].title = target.why;
      const kind = (t === state.target ? "chosen " : "") + (target.judged ? "" : "out");
      return html("tr", { class: kind || null }, [html("th", { scope: "row" }, button), ...cells]);
    }));
  }

  function choose(t) {
    state.target = state.target === t ? -1 : t;
    byId("x-target").value = String(state.target);
    drawAll();
  }

  // ---- the questions -----------------------------------------------------------------------------------------------

  const ONLY = {
    "to yes": (q) => answer(q, zero) === NO && answer(q, state.at) === YES,
    "to no": (q) => answer(q, zero) === YES && answer(q, state.at) === NO,
    yes: (q) => answer(q, state.at) === YES,
    no: (q) => answer(q, state.at) === NO,
    unread: (q) => answer(q, state.at) === UNREAD,
    differs: (q) => against(q) !== null && (state.target < 0 ? against(q) > 0.5 : answer(q, state.at) !== given(state.target, q)),
    never: (q) => questions.turns[q] !== null && questions.turns[q].length === 0,
    often: (q) => questions.turns[q] !== null && questions.turns[q].length > 1,
  };
  const lacks = [questions.topic, questions.level].map((column) => column.every((value) => value === null || value === ""));
  const QUESTION_VALUES = [
    (q) => questions.text[q].toLowerCase(), (q) => questions.topic[q], (q) => questions.level[q],
    (q) => margin(q, state.at), (q) => (questions.turns[q] && questions.turns[q].length ? questions.turns[q][0] : null),
    (q) => (state.target < 0 ? saidYes[q] : given(state.target, q)), against,
  ];

  function kept() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    let found = every.filter((q) => {
      if (!inSplit(q)) return false;
      if (state.topic !== "" && questions.topic[q] !== state.topic) return false;
      if (state.level !== "" && String(questions.level[q]) !== state.level) return false;
      if (state.only && !ONLY[state.only](q)) return false;
      const text = (questions.text[q] + " " + questions.id[q]).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (state.sorted !== null) found = ordered(found, QUESTION_VALUES[state.sorted], state.down);
    return found;
  }

  const writtenTo = (q) => (data.written ? data.written.filter((each) => each.id === questions.id[q]) : []);

  function detail(q) {
    const box = html("div", { class: "curve-box" }), correct = read01(questions.correct, q), turns = questions.turns[q];
    const unread = magnitudes.filter((_, k) => answer(q, k) === UNREAD);
    const facts = [
      ["id", questions.id[q]], ["split", SPLITS[questions.split[q]] || "–"],
      ["turns at", turns === null ? "never read" : turns.length ? turns.map((m) => show(m, 3, true)).join(", ") :
        unread.length ? "does not turn where it is read" : "does not turn"],
      ...(unread.length ? [["not read at", unread.map((m) => show(m, 3, true)).join(", ")]] : []),
      ["the subject's own answer", correct === UNREAD ? "not graded" : correct ? "correct" : "wrong"],
      ...(targets.length ? [["targets that say yes", show(saidYes[q], 2)]] : []),
    ];
    if (questions.difficulty[q] !== null) facts.push(["shared difficulty", show(questions.difficulty[q], 2, true)]);
    const said = targets.map((target, t) => {
      const its = given(t, q), right = read01(target.correct, q);
      const words = (its === UNREAD ? "no answer" : spoken(its)) + (right === UNREAD ? "" : right ? ", and was right" : ", and was wrong");
      return html("li", { class: its === UNREAD ? "out" : null }, [html("b", {}, target.name), ": " + words]);
    });
    const wrote = writtenTo(q).map((each) => html("div", {}, [
      html("b", {}, "at " + show(each.magnitude, 3, true) + ", read as " + (each.said === UNREAD ? "neither" : spoken(each.said)) + ":"),
      html("p", { class: "wrote" }, each.text.trim() || "(nothing was written)"),
    ]));
    if (wrote.length) wrote.unshift(html("h4", {}, "What the subject wrote"));
    const names = html("dl", {}, facts.map(([name, value]) => html("div", {}, [html("dt", {}, name), html("dd", {}, value)])));
    return { box, content: html("div", { class: "detail" }, [html("div", {}, [box, names]), html("div", {}, [html("ul", { class: "said" }, said), ...wrote])]) };
  }

  // What is seen, after the anchor: #turn-the-dial&at=0.12&with=a%20target&split=&words=food&open=q1
  const KEPT = ["split", "words", "topic", "level", "only"], FIRST = { split: "t", words: "", topic: "", level: "", only: "" };
  let telling = 0, ready = false;
  function remember() {
    if (!ready) return;
    clearTimeout(telling);
    telling = setTimeout(() => {
      const kept = new URLSearchParams();
      if (state.at !== zero) kept.set("at", magnitudes[state.at]);
      if (state.target >= 0) kept.set("with", targets[state.target].name);
      for (const name of KEPT) if (state[name] !== FIRST[name]) kept.set(name, state[name]);
      if (state.sorted !== null) kept.set("sort", state.sorted + (state.down ? "d" : "u"));
      for (const q of state.open) kept.append("open", questions.id[q]);
      const words = kept.toString();
      if (words || location.hash.includes("&")) history.replaceState(null, "", "#" + PLACE + (words ? "&" + words : ""));
    }, 200);
  }

  function restore() {
    const kept = new URLSearchParams(location.hash.split("&").slice(1).join("&"));
    if (!kept.size) return;
    const at = Number(kept.get("at") || 0);
    const off = magnitudes.map((each) => Math.abs(each - at));
    state.at = Number.isFinite(at) ? off.indexOf(Math.min(...off)) : zero;
    state.target = targets.findIndex((each) => each.name === kept.get("with"));
    for (const name of KEPT) {
      const box = byId(name === "words" ? "x-search" : "x-" + name);
      box.value = kept.has(name) ? kept.get(name) : FIRST[name];
      state[name] = box.value;
    }
    const sorted = /^([0-6])([du])$/.exec(kept.get("sort") || "");
    state.sorted = sorted ? Number(sorted[1]) : null;
    state.down = Boolean(sorted) && sorted[2] === "d";
    if (sorted) mark(byId("x-questions").tHead.rows[0], state.sorted, state.down);
    const open = new Set(kept.getAll("open"));
    state.open = new Set(every.filter((q) => open.has(questions.id[q])));
    byId("x-target").value = String(state.target);
    dial.value = state.at;
    drawAll();
  }

  function listed() {
    const names = ["id", "question", "split", "topic", "level", "magnitude", "says_yes", "margin", "turns_at", "targets_yes", "target_says_yes", "apart"];
    const value = (each) => (each === null || each === undefined ? "" : each);
    return [names, ...kept().map((q) => [
      questions.id[q], questions.text[q], SPLITS[questions.split[q]], questions.topic[q], questions.level[q],
      magnitudes[state.at], answer(q, state.at), margin(q, state.at), (questions.turns[q] || []).join(" "), saidYes[q],
      state.target < 0 ? null : given(state.target, q), against(q),
    ].map(value))];
  }

  function drawQuestions() {
    remember();
    const found = kept(), body = byId("x-questions").tBodies[0], curves = [], lines = [];
    byId("x-their").firstElementChild.textContent = state.target < 0 ? "targets’ yes" : "target says";
    byId("x-count").textContent = (found.length || "None") + " of " + counted(every.filter(inSplit).length, "question") +
      (found.length ? "" : " fits: take another word, topic, level or split");
    for (const q of found.slice(0, state.shown)) {
      const open = state.open.has(q), turns = questions.turns[q], apart = against(q);
      const button = html("button", { type: "button", class: "plain", "aria-expanded": String(open) }, questions.text[q]);
      button.addEventListener("click", () => {
        if (open) state.open.delete(q); else state.open.add(q);
        drawQuestions();
        const again = Array.from(body.querySelectorAll("button.plain")).find((each) => each.dataset.q === String(q));
        if (again) again.focus();
      });
      button.dataset.q = q;
      const their = state.target < 0 ? show(saidYes[q], 2) : given(state.target, q) === UNREAD ? "–" : spoken(given(state.target, q));
      const cells = [
        questions.topic[q] || "–", questions.level[q] === null ? "–" : questions.level[q],
        spoken(answer(q, state.at)) + " " + show(margin(q, state.at), 2, true),
        turns === null ? "–" : turns.length ? turns.map((m) => show(m, 2, true)).join(", ") : "never",
        their, apart === null ? "–" : show(apart, 2, state.target >= 0),
      ].map((text, place) => html("td", { class: place < 2 ? "wide" : null, hidden: place < 2 && lacks[place] ? "" : null }, text));
      lines.push(html("tr", {}, [html("th", { scope: "row" }, button), ...cells]));
      if (open) {
        const { box, content } = detail(q);
        curves.push([box, q]);
        lines.push(html("tr", { class: "opened" }, html("td", { colspan: 7 }, content)));
      }
    }
    body.replaceChildren(...lines);
    for (const [box, q] of curves) drawQuestion(box, q);
    byId("x-more").hidden = found.length <= state.shown;
  }

  // Show one question in the table below, whatever was filtered before.
  function find(q) {
    Object.assign(state, { words: questions.id[q], topic: "", level: "", only: "", shown: PAGE });
    state.open.add(q);
    for (const [id, value] of [["x-search", state.words], ["x-topic", ""], ["x-level", ""], ["x-only", ""]]) {
      if (byId(id)) byId(id).value = value;
    }
    drawQuestions();
    byId("x-search").scrollIntoView({ block: "start" });
    byId("x-search").focus({ preventScroll: true });
  }

  function drawAll() {
    drawDial();
    drawList();
    drawTargets();
    drawQuestions();
  }

  // ---- what answers to the hand ------------------------------------------------------------------------------------

  function options(id, values, first) {
    const select = byId(id);
    select.replaceChildren(html("option", { value: "" }, first), ...values.map((value) => html("option", { value }, value)));
    if (!values.length) select.closest("label").hidden = true;
  }

  const distinct = (values) => Array.from(new Set(values.filter((value) => value !== null && value !== ""))).sort(compare);
  options("x-topic", distinct(questions.topic), "all topics");
  options("x-level", distinct(questions.level), "all levels");
  lacks.forEach((empty, place) => { byId("x-questions").tHead.rows[0].cells[place + 1].hidden = empty; });
  byId("x-target").replaceChildren(
    html("option", { value: "-1" }, "all targets"), ...targets.map((target, t) => html("option", { value: t }, target.name)),
  );
  dial.max = magnitudes.length - 1;
  dial.addEventListener("input", () => turnTo(Number(dial.value)));
  byId("x-off").addEventListener("click", () => turnTo(zero));
  byId("x-match").addEventListener("click", () => {
    if (state.target < 0 || targets[state.target].at === null) return;
    turnTo(targets[state.target].at);
  });
  byId("x-rate").addEventListener("change", (event) => {
    const box = event.target, wanted = Number(box.value);
    const given = box.value !== "" || box.validity.badInput, fits = box.value !== "" && wanted >= 0 && wanted <= 1;
    byId("x-rate-said").textContent = given && !fits ? "a yes rate lies between 0 and 1" : "";
    box.setAttribute("aria-invalid", String(given && !fits));
    if (!fits) return;
    const off = rates.map((each) => (each.rate === null ? Infinity : Math.abs(each.rate - wanted)));
    const least = Math.min(...off);
    let best = zero;
    off.forEach((each, k) => { // of several as near, the one nearest to no steering
      if (each <= least + 1e-12 && (off[best] > least + 1e-12 || Math.abs(magnitudes[k]) < Math.abs(magnitudes[best]))) best = k;
    });
    turnTo(best);
    byId("x-rate-said").textContent = "nearest setting: " + show(rates[best].rate, 3);
  });
  byId("x-target").addEventListener("change", (event) => { state.target = Number(event.target.value); drawAll(); });
  byId("x-split").addEventListener("change", (event) => { state.split = event.target.value; drawAll(); });
  for (const [id, name] of [["x-search", "words"], ["x-topic", "topic"], ["x-level", "level"], ["x-only", "only"]]) {
    for (const kind of ["input", "change"]) { // some browsers and tools tell of a select by the second alone
      byId(id).addEventListener(kind, (event) => {
        if (state[name] === event.target.value) return;
        Object.assign(state, { [name]: event.target.value, shown: PAGE });
        drawQuestions();
      });
    }
  }
  byId("x-more").addEventListener("click", () => { state.shown += PAGE; drawQuestions(); });
  headings(byId("x-questions").tHead.rows[0], (column, down) => {
    Object.assign(state, { sorted: column, down, shown: PAGE });
    drawQuestions();
  });
  headings(byId("x-targets").tHead.rows[0], (column, down) => {
    Object.assign(state, { targetColumn: column, targetDown: down });
    drawTargets();
  });
  let waiting = 0;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 120); });
  downloads(byId("x-questions").parentElement, listed);
  window.addEventListener("hashchange", restore);
  root.hidden = false;
  turnTo(zero);
  restore();
  ready = true;
  reveal();
})();
