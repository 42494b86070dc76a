// The details of an item: its input, its expected output, and every trial with its evaluations.

/** The details of an item. */
function details(item, evaluators) {
  const several = item.runs.length > 1;
  const told = ([field, value]) => field !== item.expected && !(field === "id" && value === item.name);
  const fields = Object.entries(item.input).filter(told).sort(([one], [two]) => (two === "input") - (one === "input"));
  const expected = () => item.expected === undefined ? null : side(item.expected === "expected" ? "Expected" : `Expected (${item.expected})`, item.input[item.expected]);
  const worst = Math.max(0, item.runs.findIndex((run) => isBad(run, evaluators)));
  const runs = item.runs.map((run, index) => {
    const content = () => element("div", {}, conversation(run), element("div", { class: "sides" }, expected(), outcome(run)), attempts(run), faults(run), evaluations(run, evaluators), metrics(run), workspace(run), trace(run), traffic(run), metadata(run));
    return several ? folded(run, index, item.runs.length, index === worst, evaluators, content) : content();
  });
  return [element("div", { class: "sides" }, fields.map(([field, value]) => side(field, value))), ...runs];
}

/** A labelled value. */
function side(label, value, attributes) {
  return element("div", {}, element("h4", {}, ...visible(label)), ...block(value, { "aria-label": label, ...attributes }));
}

/** The output, or the error. */
function outcome(run) {
  if (run.output !== undefined) return side("Output", run.output);
  const label = run.status === "timeout" ? "Timeout" : "Error";
  return side(label, run.error ?? "no reason given", { class: "text bad" });
}

/** One of several trials, whose details are created when it is opened. */
function folded(run, index, all, isOpen, evaluators, content) {
  const bad = isBad(run, evaluators);
  const isScored = Object.values(run.evaluations).every((found) => found.score !== undefined || found.notApplicable);
  const word = run.status ?? (!isScored ? "scoring error" : bad ? "below pass mark" : "ok");
  const fold = element("details", { class: "run" },
    element("summary", {}, `Trial ${index + 1} of ${all} `, badge(bad ? "bad" : "good", word), ` ${duration(run.latency)}`));
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.children.length === 1) fold.append(content());
  });
  fold.open = isOpen;
  return fold;
}

/** The faults that were injected into calls of tools. */
function faults(run) {
  return run.faults === undefined ? null : side("Injected faults", run.faults);
}

/** How many attempts the trial took, and why. */
function attempts(run) {
  return run.attempts === undefined ? null : side("Attempts", run.attempts);
}

/** Whether a trial failed, lacks a score, or has one below a pass mark. */
function isBad(run, evaluators) {
  return run.status !== undefined || evaluators.some(([name, mark]) => {
    const found = evaluationBy(run, name);
    return found !== undefined && isLow(found, mark);
  });
}

/** Whether an evaluator failed or scored below its pass mark. */
function isLow(found, mark) {
  return found.score === undefined ? !found.notApplicable : found.score < mark;
}

/** The evaluations, in the order of the evaluators. */
function evaluations(run, evaluators) {
  const known = evaluators.filter(([name]) => Object.hasOwn(run.evaluations, name));
  if (known.length === 0) return null;
  return element("div", {}, element("h4", {}, "Evaluations"), known.map(([name, mark]) => evaluation(name, mark, run.evaluations[name])));
}

function evaluation(name, mark, found) {
  const low = isLow(found, mark);
  const score = found.score === undefined
    ? (found.notApplicable ? badge("odd", "n/a") : badge("bad", "scoring error"))
    : [element("progress", { max: "1", value: found.score, "aria-hidden": "true" }), badge(low ? "bad" : "good", figure(found.score))];
  const rest = { ...found.metadata, ...(found.judge ? { judge: found.judge } : {}) };
  return element("div", { class: low ? "evaluation low" : "evaluation" },
    element("div", { class: "line" }, element("strong", {}, element("bdi", {}, ...visible(name))), score, element("small", {}, `Pass mark ${mark}`)),
    found.error === undefined ? null : block(found.error),
    found.reason === undefined ? null : block(found.reason),
    found.chainOfThought === undefined ? null : more("Reasoning", found.chainOfThought),
    Object.keys(rest).length === 0 ? null : more("Details", rest));
}

/** What was replayed and what was sent, and where it diverged from the recording. */
function traffic(run) {
  if (run.traffic === undefined && run.diverged === undefined) return null;
  return element("div", { class: "evaluation" },
    run.traffic === undefined ? null : element("p", {}, `Model traffic: ${run.traffic}`),
    run.diverged === undefined ? null : side("Diverged from the recording", run.diverged));
}

/** The agent's metadata. */
function metadata(run) {
  return run.metadata === undefined ? null : element("div", { class: "evaluation" }, more("Output metadata", run.metadata));
}

/** A collapsed value. */
function more(label, value) {
  return element("details", {}, element("summary", {}, label), block(value));
}
