"use strict";
// Elements, and values as text. Agent output becomes text of elements, never markup.

/** Longer texts are truncated at first, in characters. */
const LONGEST = 20000;
/** Invisible characters, and those that change the text direction. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** An element with attributes and children; `null` ones are left out. */
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

/** A text in pieces, with invisible characters escaped. */
function visible(text) {
  return text.split(new RegExp(`(${CONTROLS.source})`, "g")).filter((part) => part !== "").map((part) => {
    if (part.length !== 1 || !CONTROLS.test(part)) return part;
    return element("span", { class: "control" }, `\\u{${part.charCodeAt(0).toString(16)}}`);
  });
}

/** The start of a text, never cut within a character. */
function beginning(text, length) {
  const end = text.charCodeAt(length - 1);
  return text.slice(0, end >= 0xd800 && end < 0xdc00 ? length - 1 : length);
}

/** A value in a block, with a button to show the rest of a long one. */
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

/** A score with three decimals, or with all of them if it would round up to 1. */
function figure(score) {
  const text = score.toFixed(3);
  return score < 1 && text === "1.000" ? String(score) : text;
}

/** A duration in a suitable unit, from milliseconds. */
function duration(milliseconds) {
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A verdict with its colour and sign. */
function badge(look, word) {
  const sign = { good: "✓", bad: "✕", odd: "!" }[look];
  return element("span", { class: `badge ${look}` }, element("span", { "aria-hidden": "true" }, `${sign} `), word);
}

/** An evaluator's result in a trial. Its name may be that of an object's built-in property. */
function evaluationBy(run, name) {
  return Object.hasOwn(run.evaluations, name) ? run.evaluations[name] : undefined;
}

/** Parses JSON; integers beyond JavaScript's safe range keep their digits. */
function parsed(text) {
  if (!/[:[,]-?\d{16,}[,\]}]/.test(text) || !JSON.rawJSON) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && String(value) !== context.source
      ? JSON.rawJSON(context.source) : value);
}
