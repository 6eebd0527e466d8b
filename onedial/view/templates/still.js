// The filter and the order of a table on a page that nobody answers for: as onedial/view/expression.py reads them, over
// the rows that are here. Both stand in the address after #, so that a link restores them.
(function () {
  "use strict";

  const form = document.getElementById("still"), table = document.querySelector(".rows table");
  if (!form || !table) return;
  const heads = [...table.tHead.rows[0].cells], names = heads.map((head) => head.textContent);
  const isNumber = heads.map((head) => head.dataset.kind === "number");
  const lines = [...table.tBodies[0].rows];
  const rows = lines.map((line) => [...line.cells].map((cell, at) => {
    const exact = cell.dataset.is;
    if (exact === "") return null;
    return isNumber[at] ? Number(exact) : cell.textContent;
  }));
  const wrong = (words) => { throw new SyntaxError("the filter " + words); };
  const TOKEN = /\s*(?:([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|("[^"]*"|'[^']*')|(`[^`]*`)|(!=|<=|>=|==?|[<>~()])|([\p{L}_][\p{L}\p{N}_]*))/uy;
  const KINDS = ["number", "text", "quoted", "sign", "word"];
  const SIGNS = {
    "=": (a, b) => a === b, "==": (a, b) => a === b, "!=": (a, b) => a !== b, "<": (a, b) => a < b, "<=": (a, b) => a <= b,
    ">": (a, b) => a > b, ">=": (a, b) => a >= b, "~": (a, b) => a.toLowerCase().includes(b.toLowerCase()),
  };

  function tokensOf(expression) {
    const text = expression.trimEnd(), found = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const from = TOKEN.lastIndex, match = TOKEN.exec(text);
      if (!match) wrong("cannot be read from " + text.slice(from).trim().slice(0, 30) + " on");
      const kind = match.slice(1).findIndex((part) => part !== undefined);
      found.push([KINDS[kind], match[kind + 1]]);
    }
    return found;
  }

  function reader(tokens) {  // each rule gives a function of a row
    const next = () => tokens[0] || ["end", ""];
    const take = (...words) => {
      const [kind, text] = next();
      if ((kind === "sign" || kind === "word") && words.includes(text.toLowerCase()) && !names.includes(text)) return tokens.shift()[1].toLowerCase();
      return "";
    };
    const either = () => { let one = both(); while (take("or")) { const a = one, b = both(); one = (row) => a(row) || b(row); } return one; };
    const both = () => { let one = single(); while (take("and")) { const a = one, b = single(); one = (row) => a(row) && b(row); } return one; };
    const single = () => {
      if (take("not")) { const inner = single(); return (row) => !inner(row); }
      if (!take("(")) return test();
      const inner = either();
      if (!take(")")) wrong("opens a parenthesis that it does not close");
      return inner;
    };
    const side = () => {
      const [kind, text] = next();
      if (kind === "end" || kind === "sign") wrong("ends or has " + text + " where a column, number or text belongs");
      tokens.shift();
      const at = names.indexOf(kind === "quoted" ? text.slice(1, -1) : text);
      if ((kind === "word" || kind === "quoted") && at >= 0) return { kind: isNumber[at] ? "number" : "text", of: (row) => row[at] };
      if (kind === "number") return { kind, of: () => Number(text) };
      if (kind === "text") return { kind, of: () => text.slice(1, -1) };
      const word = text.toLowerCase();
      if (kind === "quoted" || (word !== "yes" && word !== "no")) wrong("names " + text + ", which is no column; a text stands between quotes");
      return { kind: "word", of: () => word };
    };
    const beside = (one, other) => one.kind !== "word" ? one
      : other.kind === "number" ? { kind: "number", of: (row) => Number(one.of(row) === "yes") } : { kind: "text", of: one.of };
    const test = () => {
      const [kind, text] = next(), left = side();
      if (take("is")) {
        const wanted = !take("not");
        if (!take("missing")) wrong("holds `is` before something else than missing or not missing");
        return (row) => (left.of(row) === null) === wanted;
      }
      const sign = take(...Object.keys(SIGNS));
      if (sign) {
        const given = side(), a = beside(left, given), b = beside(given, left);
        if (a.kind !== b.kind || (sign === "~" && a.kind !== "text")) wrong("sets a number and a text beside each other with " + sign);
        return (row) => { const x = a.of(row), y = b.of(row); return x !== null && y !== null && SIGNS[sign](x, y); };
      }
      if (kind === "text") return (row) => row.some((value, at) => !isNumber[at] && value !== null && SIGNS["~"](value, text.slice(1, -1)));
      return wrong("compares " + text + " with nothing");
    };
    const whole = either();
    if (next()[0] !== "end") wrong("goes on with " + next()[1] + " where it should end");
    return whole;
  }

  const said = document.createElement("p");
  said.setAttribute("role", "status");
  form.after(said);

  function show() {
    const asked = new URLSearchParams(location.hash.slice(1)), expression = asked.get("filter") || "", sort = asked.get("sort") || "";
    form.elements.filter.value = expression;
    let keeps = () => true;
    said.className = said.textContent = "";
    try {
      const tokens = tokensOf(expression);
      if (tokens.length) keeps = reader(tokens);
    } catch (error) {
      said.className = "wrong";
      said.textContent = error.message;
    }
    const kept = rows.map(keeps), at = names.indexOf(sort.replace(/^-/, "")), down = sort.startsWith("-") ? -1 : 1;
    lines.forEach((line, place) => { line.hidden = !kept[place]; });
    const order = lines.map((_, place) => place);
    if (at >= 0) {
      const key = (place) => { const value = rows[place][at]; return typeof value === "string" ? value.toLowerCase() : value; };
      order.sort((one, other) => {
        const a = key(one), b = key(other);
        if (a === null || b === null) return (a === null) - (b === null) || one - other;
        return down * (a < b ? -1 : a > b ? 1 : 0) || one - other;
      });
    }
    table.tBodies[0].append(...order.map((place) => lines[place]));
    heads.forEach((head, place) => head.setAttribute("aria-sort", place !== at ? "none" : down < 0 ? "descending" : "ascending"));
    if (expression && !said.textContent) said.textContent = `${kept.filter(Boolean).length} of ${rows.length} rows`;
  }

  function ask(changes) {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of Object.entries(changes)) if (value) asked.set(name, value); else asked.delete(name);
    location.hash = asked;
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => { event.preventDefault(); ask({ filter: form.elements.filter.value.trim() }); });
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.textContent = names[at];
    button.addEventListener("click", () => ask({ sort: head.getAttribute("aria-sort") === "ascending" ? "-" + names[at] : names[at] }));
    head.replaceChildren(button);
  });
  addEventListener("hashchange", show);
  show();
})();
