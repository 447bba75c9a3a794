// Draws all results on one axis again, and sorts and filters their table, as the reader chooses.
(async () => {
  "use strict";
  // The library is compressed; the page's policy knows its hash.
  async function load() {
    const packed = Uint8Array.from(atob(byId("ranking-library").textContent), letter => letter.charCodeAt(0));
    const text = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    document.head.append(Object.assign(document.createElement("script"), { textContent: await text }));
  }

  const byId = id => document.getElementById(id);
  const page = JSON.parse(byId("ranking-data").textContent);
  const { figures, results, rows, specs, letterPx, mostNamePx, chosen: first } = page;
  const form = byId("ranking-choice"), picture = byId("ranking-picture"), hint = byId("ranking-hint");
  const table = document.querySelector("#overview table"), body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  let chosen = { ...first }, order = "", picked = [], view = null, drawing = 0;

  const fits = row => {
    const result = results[row.result];
    return (chosen.kind === "every" || chosen.kind === result.kind)
      && (chosen.setting === "every" || chosen.setting === result.setting)
      && (chosen.part === "every" || chosen.part === row.part)
      && (chosen.durability === "every" || chosen.durability === result.durability)
      && (chosen.verdict === "every" || chosen.verdict === row.verdict.split(",")[0])
      && (["best", "every"].includes(chosen.workers) || `${row.workers}` === chosen.workers);
  };
  const valueOf = row => row.figures[chosen.figure]?.[0];
  const isBetter = (a, b) => {
    if (chosen.part === "every" && a.rank !== b.rank) return a.rank > b.rank;
    if (valueOf(a) === undefined || valueOf(b) === undefined) return valueOf(a) !== undefined;
    return figures[chosen.figure].higher ? valueOf(a) > valueOf(b) : valueOf(a) < valueOf(b);
  };

  // The rows that are shown: one of each result, or each one; the best first.
  function shownRows() {
    const found = rows.filter(fits), best = new Map();
    for (const row of found) {
      const other = best.get(row.result);
      if (!other || isBetter(row, other)) best.set(row.result, row);
    }
    const kept = chosen.workers === "every" ? found.filter(row => valueOf(row) !== undefined) : [...best.values()];
    const sign = figures[chosen.figure].higher ? -1 : 1;
    return kept.sort((a, b) => {
      const left = valueOf(a), right = valueOf(b);
      if (left === undefined || right === undefined) return (left === undefined) - (right === undefined);
      return sign * (left - right);
    });
  }

  function namesOf(shown) {
    const isOnce = (name, at, names) => names.indexOf(name) === names.lastIndexOf(name);
    const full = shown.map(row => results[row.result].name), targets = shown.map(row => results[row.result].target);
    const isTarget = targets.map(isOnce);
    const plain = full.map((name, at) => chosen.setting !== "every" && isTarget[at] ? targets[at] : name);
    const once = plain.map(isOnce);
    return shown.map((row, at) => {
      if (once[at]) return plain[at];
      return `${plain[at]}, ${chosen.kind === "every" ? `${results[row.result].kind}, ` : ""}${row.at}`;
    });
  }

  const described = (row, name) => {
    const [, text, n, , , range, spread] = row.figures[chosen.figure];
    const title = figures[chosen.figure].title;
    return [name, `${title}: ${text}`, row.at, range ? `lowest to highest: ${range}` : "", spread ? `spread: ${spread}` : "spread not known",
      `n: ${n}`, `durability: ${results[row.result].durability}`, `verdict: ${row.verdict}`].filter(Boolean);
  };

  // What the picture of the rows is drawn from.
  function marksOf(shown) {
    const drawn = shown.filter(row => valueOf(row) !== undefined), names = namesOf(drawn);
    return drawn.map((row, at) => ({ row, name: names[at] }))
      .map(({ row, name }) => {
        const [value, text, , low, high] = row.figures[chosen.figure];
        const verdict = row.verdict === "verified" ? "" : ` · ${row.verdict}`;
        return {
          name, value, low, high, zero: 0, text: text + verdict, id: rows.indexOf(row),
          durability: results[row.result].durability, description: described(row, name).join(", "),
          picked: picked.includes(rows.indexOf(row)) ? "AB"[picked.indexOf(rows.indexOf(row))] : "",
        };
      });
  }

  async function draw(shown) {
    const marks = marksOf(shown), number = ++drawing;
    if (!marks.length) {
      view?.finalize();
      view = null;
      picture.replaceChildren(Object.assign(document.createElement("p"), { textContent: "No result fits this choice." }));
      return;
    }
    const isLog = chosen.scale === "log" && marks.every(mark => mark.value > 0 && !(mark.low <= 0));
    const spec = structuredClone(specs[isLog ? "log" : "linear"]), width = picture.clientWidth;
    spec.data.find(each => each.name === "shown").values = marks;
    const room = (texts, most) => Math.min(Math.max(0, ...texts.map(text => text.length)) * letterPx, most);
    const isNarrow = width < 600;
    const signals = { title: figures[chosen.figure].axis, share: figures[chosen.figure].share,
      names: room(marks.map(mark => mark.name), isNarrow ? mostNamePx / 2.4 : mostNamePx) };
    spec.padding.right = room(marks.map(mark => mark.text), Infinity) + 12;
    if (isNarrow) for (const legend of spec.legends ?? []) legend.columns = 1;
    for (const signal of spec.signals) if (signal.name in signals) signal.value = signals[signal.name];
    spec.width = width;
    spec.description = picture.getAttribute("aria-label");
    const stage = document.createElement("div"), done = await drawn(stage, spec), next = done.view;
    if (number !== drawing) { done.finalize(); return; }
    view?.finalize();
    view = done;
    picture.replaceChildren(stage);
    next.addEventListener("click", (event, item) => item?.datum?.id !== undefined && pick(item.datum.id));
    next.addEventListener("pointermove", (event, item) => point(event, item?.datum?.id));
    next.addEventListener("pointerout", event => point(event, undefined));
  }

  function point(event, id) {
    hint.hidden = id === undefined;
    if (hint.hidden) return;
    const [name, ...lines] = described(rows[id], results[rows[id].result].name);
    const title = document.createElement("strong");
    title.textContent = name;
    hint.replaceChildren(title, ...lines.map(line => Object.assign(document.createElement("div"), { textContent: line })));
    const left = Math.min(event.clientX + 14, innerWidth - hint.offsetWidth - 8);
    const top = event.clientY + 16 + hint.offsetHeight > innerHeight ? event.clientY - hint.offsetHeight - 10 : event.clientY + 16;
    hint.style.left = `${Math.max(left, 8)}px`;
    hint.style.top = `${Math.max(top, 8)}px`;
  }

  const statusOf = verdict => page.statuses.find(status => status === verdict.split(",")[0])?.replace(" ", "-") ?? "";
  const cellOf = (row, column) => row.cells[column] ?? results[row.result].cells[column];
  const numberOf = text => /^-?[\d,.]+ ?%?$/.test(text) ? Number(text.replace(/[,%]/g, "")) : NaN;

  function sortedRows(shown) {
    if (!order) return shown;
    const column = Number(order.replace("-", "")), sign = order.startsWith("-") ? -1 : 1;
    return [...shown].sort((a, b) => {
      const left = cellOf(a, column), right = cellOf(b, column);
      if (left === "-" || right === "-") return (left === "-") - (right === "-");
      const numbers = [numberOf(left), numberOf(right)];
      return sign * (numbers.some(Number.isNaN) ? left.localeCompare(right) : numbers[0] - numbers[1]);
    });
  }

  function tabulate(shown) {
    body.replaceChildren(...sortedRows(shown).map(row => {
      const line = document.createElement("tr"), id = rows.indexOf(row), result = results[row.result];
      heads.forEach((head, column) => {
        const cell = line.insertCell(), text = cellOf(row, column);
        cell.className = head.className;
        if (column === 0) {
          const button = Object.assign(document.createElement("button"), { type: "button", className: "pick" });
          button.textContent = picked.includes(id) ? "AB"[picked.indexOf(id)] : "+";
          button.setAttribute("aria-pressed", picked.includes(id));
          button.setAttribute("aria-label", `compare ${text}, ${row.at}`);
          button.dataset.row = id;
          const link = Object.assign(document.createElement("a"), { href: result.link, textContent: text });
          cell.append(button, " ", link);
        } else {
          cell.textContent = text;
          if (column === heads.length - 1) cell.className += ` verdict ${statusOf(text)}`;
        }
      });
      line.classList.toggle("picked", picked.includes(id));
      return line;
    }));
    heads.forEach((head, column) => {
      const is = order.replace("-", "") === `${column}`;
      if (is) head.setAttribute("aria-sort", order.startsWith("-") ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const count = found => new Set(found.map(row => row.result)).size, figure = figures[chosen.figure];
    const drawn = count(shown.filter(row => valueOf(row) !== undefined));
    byId("ranking-count").textContent = `${drawn} of ${results.length} results in the picture, ${count(shown)} in the table. `
      + `${figure.axis}. ${figure.meaning}`;
  }

  const ratioText = (a, b, names, better) => {
    if (!(a > 0 && b > 0)) return "no ratio";
    const [more, less] = a >= b ? [0, 1] : [1, 0], ratio = Math.max(a, b) / Math.min(a, b);
    const good = better ? more : less;
    return `${names[more]} is ${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)} times ${names[less]}`
      + (a === b ? "" : `; ${names[good]} is better`);
  };

  function noteOn([a, b]) {
    const notes = [], [left, right] = [a, b].map(row => row.figures[chosen.figure]);
    if (results[a.result].durability !== results[b.result].durability)
      notes.push("Their durability differs: compare only results of equal durability.");
    if (results[a.result].kind !== results[b.result].kind) notes.push("They measured different things.");
    if (left && right) {
      if (left[3] === undefined || right[3] === undefined)
        notes.push(`${figures[chosen.figure].title}: spread not known (one run), so the difference between runs is unknown.`);
      else if (left[3] <= right[4] && right[3] <= left[4])
        notes.push(`${figures[chosen.figure].title}: the ranges of their runs overlap, so the difference means nothing.`);
      else notes.push(`${figures[chosen.figure].title}: the ranges of their runs do not overlap.`);
    }
    return notes.join(" ");
  }

  function compare() {
    const panel = byId("ranking-compared"), pair = picked.map(id => rows[id]);
    panel.hidden = !pair.length;
    if (!pair.length) return;
    byId("ranking-pair").textContent = pair.map((row, at) => `${"AB"[at]}: ${results[row.result].name}, ${row.at}`).join(" · ")
      + (pair.length < 2 ? " · choose another one to compare with" : "");
    const lines = pair.length < 2 ? [] : Object.keys(figures).filter(name => pair.every(row => row.figures[name]));
    const grid = byId("ranking-figures");
    grid.hidden = !lines.length;
    grid.tBodies[0].replaceChildren(...lines.map(name => {
      const line = document.createElement("tr"), found = pair.map(row => row.figures[name]);
      const ratio = ratioText(found[0][0], found[1][0], "AB", figures[name].higher);
      [figures[name].title, ...found.map(each => each[1] + (each[6] ? ` (spread ${each[6]})` : "")), ratio].forEach((text, at) => {
        const cell = line.insertCell();
        cell.textContent = text;
        if (at === 0 || at === 3) cell.className = "text";
      });
      return line;
    }));
    byId("ranking-note").textContent = pair.length < 2 ? "" : noteOn(pair);
  }

  function pick(id) {
    const focused = document.activeElement?.dataset?.row;
    picked = picked.includes(id) ? picked.filter(each => each !== id) : [...picked, id].slice(-2);
    update();
    if (focused !== undefined) body.querySelector(`button[data-row="${focused}"]`)?.focus();
  }

  // Disables what the other choices leave nothing of.
  function offer() {
    const of = results.map(result => chosen.kind === "every" || result.kind === chosen.kind);
    const some = rows.filter(row => of[row.result]);
    const has = {
      figure: name => some.some(row => row.figures[name]),
      setting: name => name === "every" || results.some((result, at) => of[at] && result.setting === name),
      part: name => name === "every" || some.some(row => row.part === name),
      workers: name => ["best", "every"].includes(name) || some.some(row => `${row.workers}` === name),
    };
    for (const [name, test] of Object.entries(has)) {
      for (const option of form.elements[name].options) option.hidden = option.disabled = !test(option.value);
      if (!test(chosen[name])) chosen[name] = [...form.elements[name].options].find(option => !option.disabled)?.value ?? first[name];
    }
    for (const name of Object.keys(first)) {
      const select = form.elements[name];
      select.value = chosen[name];
      select.parentElement.hidden = [...select.options].filter(option => !option.disabled && !["every", "best"].includes(option.value)).length < 2;
    }
  }

  // The choice as a part of the address: what differs from the first one.
  function address() {
    const found = new URLSearchParams();
    for (const [name, value] of Object.entries(chosen)) if (value !== first[name]) found.set(name, value);
    if (order) found.set("sort", order);
    if (picked.length) found.set("compare", picked.join("."));
    return found.size ? `#${found}` : "";
  }

  function recall() {
    const found = new URLSearchParams(location.hash.slice(1));
    chosen = { ...first };
    for (const name of Object.keys(first)) {
      const value = found.get(name);
      if ([...form.elements[name].options].some(option => option.value === value)) chosen[name] = value;
    }
    const sort = found.get("sort") ?? "";
    order = /^-?\d+$/.test(sort) && heads[Number(sort.replace("-", ""))] ? sort : "";
    picked = (found.get("compare") ?? "").split(".").filter(Boolean).map(Number).filter(id => rows[id]).slice(0, 2);
  }

  function update(keep = true) {
    offer();
    const shown = shownRows();
    tabulate(shown);
    compare();
    if (keep) history.replaceState(null, "", address() || location.pathname + location.search);
    return draw(shown);
  }

  // A link to something folded opens it.
  function unfold() {
    if (location.hash.includes("=")) { recall(); update(false); return; }
    const found = location.hash && byId(location.hash.slice(1));
    for (let each = found; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    found?.querySelector("details")?.setAttribute("open", "");
    found?.scrollIntoView();
  }

  heads.forEach((head, column) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "sort", textContent: head.textContent });
    button.addEventListener("click", () => {
      order = order === `${column}` ? `-${column}` : order === `-${column}` ? "" : `${column}`;
      update();
    });
    head.replaceChildren(button);
  });
  form.addEventListener("change", event => { chosen[event.target.name] = event.target.value; update(); });
  form.addEventListener("submit", event => event.preventDefault());
  byId("ranking-reset").addEventListener("click", () => { chosen = { ...first }; order = ""; picked = []; update(); });
  body.addEventListener("click", event => event.target.dataset.row !== undefined && pick(Number(event.target.dataset.row)));
  byId("ranking-close").addEventListener("click", () => { picked = []; update(); });
  addEventListener("hashchange", unfold);
  let width = picture.clientWidth, waiting = 0;
  new ResizeObserver(() => {
    if (picture.clientWidth === width) return;
    width = picture.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => draw(shownRows()), 80);
  }).observe(picture);
  await load();
  form.hidden = false;
  recall();
  update(false).then(() => { document.documentElement.dataset.ready = "yes"; });
  if (location.hash && !location.hash.includes("=")) unfold();
})();
