"use strict";
// Elements, and values as text. What agents wrote becomes the text of elements, and never markup.

/** The longest text that is shown at first, in characters. */
const LONGEST = 20000;
/** Characters that could hide, or turn the text around them. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** An element with attributes and children; those that are `null` are left out. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** A value as text: a string as it is, anything else as indented JSON. */
function written(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "";
}

/** A text in pieces, in which what cannot be seen is written out. */
function visible(text) {
  return text.split(new RegExp(`(${CONTROLS.source})`, "g")).filter((part) => part !== "").map((part) => {
    if (part.length !== 1 || !CONTROLS.test(part)) return part;
    return element("span", { class: "control" }, `\\u{${part.charCodeAt(0).toString(16)}}`);
  });
}

/** The beginning of a text, which never ends within a character. */
function beginning(text, length) {
  const end = text.charCodeAt(length - 1);
  return text.slice(0, end >= 0xd800 && end < 0xdc00 ? length - 1 : length);
}

/** A value in a block, with a button for the rest of one that is long. */
function block(value, attributes) {
  const text = written(value);
  const shown = element("pre", { class: "text", dir: "auto", role: "group", tabindex: "0", ...attributes });
  if (text.length <= LONGEST) {
    shown.append(...(text === "" ? [element("em", {}, "(empty)")] : visible(text)));
    return [shown];
  }
  shown.append(...visible(beginning(text, LONGEST)), "…");
  const all = element("button", { type: "button", class: "more" }, `Show all ${text.length.toLocaleString("en")} characters`);
  all.addEventListener("click", () => {
    shown.replaceChildren(...visible(text));
    shown.focus();
    all.remove();
  });
  return [shown, all];
}

/** A score, which is never rounded up to a better one. */
function figure(score) {
  return (Math.floor(score * 1000 + 1e-9) / 1000).toFixed(3);
}

/** A time in the unit that suits it, from milliseconds. */
function duration(milliseconds) {
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A verdict in a word, with its colour and its sign. */
function badge(look, word) {
  const sign = { good: "✓", bad: "✕", odd: "!" }[look];
  return element("span", { class: `badge ${look}` }, element("span", { "aria-hidden": "true" }, `${sign} `), word);
}

/** What an evaluator found in a run; its name may be one that every object knows. */
function evaluationBy(run, name) {
  return Object.hasOwn(run.evaluations, name) ? run.evaluations[name] : undefined;
}

/** JSON, in which integers that are too large for a number of this language keep their digits. */
function parsed(text) {
  if (!/[:[,]-?\d{16,}[,\]}]/.test(text) || !JSON.rawJSON) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && String(value) !== context.source
      ? JSON.rawJSON(context.source) : value);
}
