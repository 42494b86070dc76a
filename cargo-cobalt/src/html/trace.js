// The trace of a trial: a tree of spans. Each span's contents open separately.

/** The trace, collapsed; its tree is created when it is opened. */
function trace(run) {
  if (run.trace === undefined) return null;
  const { spans, leftOut } = run.trace;
  const failed = spans.filter((span) => span.status === "error").length;
  const number = (count) => `${count.toLocaleString("en")} span${count === 1 ? "" : "s"}`;
  const fold = element("details", { class: "trace" },
    element("summary", {}, `Trace: ${number(spans.length + (leftOut ?? 0))} `, failed > 0 ? badge("bad", `${failed} failed`) : null));
  fold.addEventListener("toggle", () => {
    if (!fold.open || fold.children.length > 1) return;
    fold.append(tree(spans));
    if (leftOut !== undefined) fold.append(element("p", { class: "note" }, `${number(leftOut)} not shown here.`));
  });
  fold.open = failed > 0;
  return fold;
}

/** Nested lists of spans, which have depths. */
function tree(spans) {
  const root = element("ul", { class: "spans" });
  const lists = [root];
  for (const span of spans) {
    // Very deep spans are not indented further.
    const depth = Math.min(span.depth, lists.length - 1, 12);
    lists.length = depth + 1;
    const below = element("ul", {});
    const entry = element("li", {}, spanLine(span));
    lists[depth].append(entry);
    lists.push(below);
    below.hidden = true;
    entry.append(below);
    if (depth > 0) lists[depth].hidden = false;
  }
  for (const list of root.querySelectorAll("ul[hidden]")) list.remove();
  return root;
}

function spanLine(span) {
  const line = element("bdi", { class: `span ${span.status}` }, ...visible(span.line));
  if (span.contents === undefined) return element("div", {}, line);
  const fold = element("details", {}, element("summary", {}, line));
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.children.length === 1) fold.append(...span.contents.map(([label, text]) => side(label, text, label === "Error" ? { class: "text bad" } : {})));
  });
  return fold;
}

/** The metrics that the agent recorded. */
function metrics(run) {
  if (run.metrics === undefined) return null;
  return element("div", { class: "evaluation" }, element("dl", { class: "facts" },
    run.metrics.map(([name, value]) => element("div", {}, element("dt", {}, ...visible(name)), element("dd", {}, ...visible(value))))));
}
