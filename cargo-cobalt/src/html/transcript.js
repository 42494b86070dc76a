// The conversation of a trial: its end, what the simulated user did wrong, the messages of each turn, and the expectations of turns that were not played.

/** The conversation as chat. */
function conversation(run) {
  if (run.transcript === undefined) return null;
  const { summary, user, mistakes, unchecked, turns, unplayed } = run.transcript;
  return element("section", { class: "conversation", "aria-label": "Conversation" },
    element("h4", {}, `Conversation: ${summary}`),
    user === undefined ? null : element("p", { class: "faint" }, "Simulated user: ", ...visible(user)),
    (mistakes ?? []).map(([where, reason]) => element("div", { class: "note" },
      element("strong", {}, `Mistake of the simulated user, not of the agent: ${where}`), element("p", {}, element("bdi", {}, ...visible(reason))))),
    unchecked === undefined ? null : element("p", { class: "note" }, "The simulated user was not checked for mistakes by a model: ", ...visible(unchecked)),
    element("ol", { class: "turns" }, turns.map((turn, index) => conversationTurn(turn, index + 1))),
    unplayed === undefined ? null : [element("h5", {}, "Turns that were not played"), expectations("Expectations of turns that were not played", unplayed)]);
}

/** A turn: the user's message, the agent's reply or error, and what was expected of it. */
function conversationTurn({ message, reply, usage, calls, checks, error }, number) {
  const label = `turn ${number}`;
  return element("li", {},
    element("h5", {}, `Turn ${number} `, element("small", {}, usage)),
    element("div", { class: "message user" }, element("span", { class: "speaker" }, "User"), ...block(message, { "aria-label": `User, ${label}` })),
    calls === undefined ? null : element("p", { class: "calls" }, "Calls ", calls.flatMap((call, place) => [place > 0 ? ", " : "", element("code", { dir: "auto" }, ...visible(call))])),
    reply === undefined ? null : element("div", { class: "message agent" }, element("span", { class: "speaker" }, "Agent"), ...block(reply, { "aria-label": `Agent, ${label}` })),
    error === undefined ? null : element("div", { class: "message agent" }, element("span", { class: "speaker" }, "Agent failed"), ...block(error, { class: "text bad", "aria-label": `Error, ${label}` })),
    checks === undefined ? null : expectations(`Expectations, ${label}`, checks));
}

/** What a script expects, each met or missed. */
function expectations(label, checks) {
  return element("ul", { class: "checks", "aria-label": label }, checks.map(({ expected, passed }) =>
    element("li", {}, badge(passed ? "good" : "bad", passed ? "met" : "missed"), " ", element("code", { dir: "auto" }, ...visible(expected)))));
}
