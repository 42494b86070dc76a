// The table of items: searched, filtered, sorted, and rendered in batches.

/** The number of rows rendered at once. */
const PART = 100;
const FILTERS = [
  ["all", "All", () => true],
  ["passed", "Passed", (row) => row.item.passed],
  ["failed", "Failed", (row) => row.item.failed],
  ["low", "Below pass mark", (row) => row.low.length > 0],
  ["error", "Errors", (row) => row.item.error === true && row.item.status !== "timeout"],
  ["timeout", "Timeouts", (row) => row.item.status === "timeout"],
  ["retried", "Retried", (row) => row.item.retried > 0],
  ["replayed", "Replayed", (row) => row.item.replayed === true],
  ["diverged", "Diverged from the recording", (row) => row.item.diverged === true],
];

/** The data of a row. */
function rowOf(item, place, evaluators) {
  const scores = evaluators.map(([name]) => item.runs.map((run) => evaluationBy(run, name)?.score).filter((score) => score !== undefined));
  const low = evaluators.map((_, index) => index).filter((index) => scores[index].some((score) => score < evaluators[index][1]));
  return {
    item, place, low,
    means: scores.map((all) => (all.length === 0 ? null : all.reduce((sum, score) => sum + score, 0) / all.length)),
    latency: item.runs.reduce((sum, run) => sum + run.latency, 0) / item.runs.length,
  };
}

/** The searchable text of an item in lower case, created on first use. */
function haystack(row) {
  row.haystack ??= [row.item.name, JSON.stringify(row.item.input), ...row.item.runs.flatMap((run) => [
    written(run.output ?? ""), run.error ?? "", ...Object.values(run.evaluations).map((found) => `${found.reason ?? ""} ${found.error ?? ""}`),
  ])].join("\n").toLowerCase();
  return row.haystack;
}

/** The verdict of an item: the worst that applies. */
function verdict(row) {
  if (row.item.status !== "ok") return ["bad", row.item.status];
  if (row.item.error) return ["bad", "scoring error"];
  if (row.item.failed) return ["bad", "failed"];
  return row.low.length > 0 ? ["odd", "below pass mark"] : ["good", "passed"];
}

/** The sortable columns: a title and a sort key. */
function columnsOf(evaluators) {
  const worst = (row) => ["good", "odd", "bad"].indexOf(verdict(row)[0]);
  return [
    ["Verdict", (row) => -worst(row)],
    ["Item", (row) => row.place],
    ...evaluators.map(([name], index) => [name, (row) => row.means[index] ?? -1]),
    ["Latency", (row) => row.latency],
  ];
}

class Items {
  constructor(place) {
    this.place = place;
    const data = parsed(document.getElementById(place.dataset.items).textContent);
    this.evaluators = data.evaluators;
    this.rows = data.items.map((item, index) => rowOf(item, index, this.evaluators));
    this.columns = columnsOf(this.evaluators);
    this.state = { filter: "all", evaluator: "", text: "", column: this.rows.some((row) => verdict(row)[0] === "bad") ? 0 : 1, down: false };
    this.body = element("tbody", {});
    this.count = element("p", { class: "counts", role: "status" });
    this.rest = element("button", { type: "button", class: "more" });
    this.rest.addEventListener("click", () => this.draw());
    this.head = element("tr", {}, this.columns.map((column, index) => this.title(column, index)));
    const table = element("table", { "aria-label": "Items" }, element("thead", {}, this.head), this.body);
    place.append(this.tools(), this.count, element("div", { class: "list" }, table), this.rest);
    this.body.addEventListener("click", (event) => this.clicked(event));
    new IntersectionObserver((seen) => seen.some((it) => it.isIntersecting) && !this.rest.hidden && this.draw(), { rootMargin: "400px" }).observe(this.rest);
    this.show();
  }

  title([title], index) {
    const button = element("button", { type: "button" }, ...visible(title));
    button.addEventListener("click", () => {
      this.state.down = this.state.column === index && !this.state.down;
      this.state.column = index;
      this.show();
    });
    const isNumber = index > 1;
    return element("th", { scope: "col", class: isNumber ? "number" : null }, button);
  }

  tools() {
    const search = this.search = element("input", { type: "search", placeholder: "Search in items, outputs and reasons", "aria-label": "Search" });
    let waiting = 0;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.change({ text: search.value.trim().toLowerCase() }), 150);
    });
    const counted = FILTERS.map(([key, title, fits]) => [key, title, this.rows.filter(fits).length]);
    const buttons = counted.filter(([key, , number]) => key === "all" || number > 0).map(([key, title, number]) => {
      const button = element("button", { type: "button", "data-filter": key }, `${title} `, element("span", {}, number.toLocaleString("en")));
      button.addEventListener("click", () => this.change({ filter: key }));
      return button;
    });
    this.filters = element("div", { class: "group", role: "group", "aria-label": "Verdict" }, buttons);
    const low = this.evaluators.map(([name], index) => [name, index]).filter(([, index]) => this.rows.some((row) => row.low.includes(index)));
    return element("div", { class: "tools" }, search, this.filters,
      this.lowIn = low.length === 0 ? null : choice("Below pass mark in", [["all items", ""], ...low.map(([name, index]) => [`below pass mark in ${name}`, index])], (value) => this.change({ evaluator: value })),
      this.sorting = choice("Sort by", this.columns.map(([title], index) => [`by ${title.toLowerCase()}`, index]), (value) => this.change({ column: Number(value), down: false }), "sort"));
  }

  change(state) {
    Object.assign(this.state, state);
    this.show();
  }

  /** Filters and sorts the items, and renders the first batch. */
  show() {
    const { filter, evaluator, text, column, down } = this.state;
    const fits = FILTERS.find(([key]) => key === filter)[2];
    const value = this.columns[column][1];
    this.chosen = this.rows.filter((row) => fits(row) && (evaluator === "" || row.low.includes(Number(evaluator))) && (text === "" || haystack(row).includes(text)));
    this.chosen.sort((one, two) => (value(one) - value(two)) * (down ? -1 : 1) || one.place - two.place);
    for (const button of this.filters.children) button.setAttribute("aria-pressed", String(button.dataset.filter === filter));
    [...this.head.children].forEach((title, index) => {
      if (index === column) title.setAttribute("aria-sort", down ? "descending" : "ascending");
      else title.removeAttribute("aria-sort");
    });
    this.sorting.value = String(column);
    this.count.textContent = `${this.chosen.length.toLocaleString("en")} of ${this.rows.length.toLocaleString("en")} items`;
    this.body.replaceChildren();
    this.drawn = 0;
    this.draw();
  }

  draw() {
    this.body.append(...this.chosen.slice(this.drawn, this.drawn + PART).map((row) => this.line(row)));
    this.drawn = Math.min(this.drawn + PART, this.chosen.length);
    const left = this.chosen.length - this.drawn;
    this.rest.hidden = left === 0;
    this.rest.textContent = `Show more (${left.toLocaleString("en")} left)`;
    this.rest.dataset.left = left.toLocaleString("en");
  }

  line(row) {
    const open = element("button", { type: "button", class: "open", "aria-expanded": "false" }, element("bdi", {}, ...visible(row.item.name)));
    const input = row.item.input.input ?? Object.values(row.item.input)[0] ?? "";
    const preview = element("span", { class: "preview", dir: "auto" }, ...visible(beginning(typeof input === "string" ? input : JSON.stringify(input), 200)));
    const cells = row.means.map((mean, index) => {
      const look = mean === null ? "score absent" : row.low.includes(index) ? "score low" : "score";
      return element("td", { class: look, "data-label": this.evaluators[index][0] }, mean === null ? "–" : figure(mean));
    });
    const line = element("tr", { class: "item" }, element("td", {}, badge(...verdict(row)), row.item.retried > 0 ? element("small", {}, " retried") : null), element("td", { class: "name" }, open, preview), cells,
      element("td", { class: "number", "data-label": "Latency" }, duration(row.latency), row.item.replayed ? element("small", {}, " as recorded") : null));
    line.row = row;
    return line;
  }

  /** Opens the item with this name and scrolls to it. */
  open(name) {
    const find = () => this.chosen.findIndex((row) => row.item.name === name);
    // Search for items that are filtered out or far down: rendering all rows above takes too long.
    if (find() < 0 || find() >= this.drawn + PART) {
      this.search.value = name;
      if (this.lowIn !== null) this.lowIn.value = "";
      this.change({ filter: "all", evaluator: "", text: name.toLowerCase() });
    }
    const place = find();
    while (this.drawn <= place) this.draw();
    const line = this.body.querySelectorAll("tr.item")[place];
    if (line === undefined || line.nextElementSibling?.classList.contains("detail")) return;
    this.toggle(line);
    line.scrollIntoView();
    line.querySelector(".open").focus();
  }

  clicked(event) {
    const line = event.target.closest("tr.item");
    // Do not toggle while text is being selected.
    if (line !== null && (getSelection()?.isCollapsed ?? true)) this.toggle(line);
  }

  toggle(line) {
    const isOpen = line.nextElementSibling?.classList.contains("detail") ?? false;
    line.querySelector(".open").setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) {
      line.nextElementSibling.remove();
      return;
    }
    history.replaceState(null, "", `#${this.place.id}/${encodeURIComponent(line.row.item.name)}`);
    line.after(element("tr", { class: "detail" }, element("td", { colspan: this.columns.length }, details(line.row.item, this.evaluators))));
  }
}

/** A select box. */
function choice(label, options, chosen, look = null) {
  const list = element("select", { "aria-label": label, class: look }, options.map(([title, value]) => element("option", { value }, title)));
  list.addEventListener("change", () => chosen(list.value));
  return list;
}

/** The tables that exist, by their containers. */
const tables = new Map();

/** The table of a container, created on first use. */
function tableOf(place) {
  if (!tables.has(place)) tables.set(place, new Items(place));
  return tables.get(place);
}

/** Tables are created when their experiment is first opened. */
for (const place of document.querySelectorAll("[data-items]")) {
  const fold = place.closest("details");
  const make = () => fold.open && tableOf(place);
  fold.addEventListener("toggle", make);
  make();
}

/** Opens the experiment of a link, and the item if the link has one: `#items-of-0/paris`. */
function openLinked() {
  const [id, name] = location.hash.slice(1).split("/");
  const place = id === "" ? null : document.getElementById(id);
  const fold = place?.closest("details") ?? place?.querySelector("details");
  if (!fold) return;
  fold.open = true;
  if (name !== undefined && place.dataset.items !== undefined) tableOf(place).open(decodeURIComponent(name));
}
addEventListener("hashchange", openLinked);
openLinked();

/** Expand everything for printing. */
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll(".experiment > details")) fold.open = true;
});
