// What an agent changed in its workspace: the files, and the patch with its lines coloured.

/** More lines of a patch are shown on demand. */
const MOST_LINES = 400;

/** The changes of a trial. */
function workspace(run) {
  const changes = run.workspace;
  if (changes === undefined) return null;
  const files = changes.files.map((file) => element("tr", {},
    element("td", {}, file.change),
    element("td", {}, element("code", { dir: "ltr" }, ...visible(file.path))),
    element("td", { class: "number" }, file.binary ? `binary, ${file.bytes.toLocaleString("en")} bytes` : `+${file.addedLines} \u2212${file.removedLines}`)));
  const more = changes.omittedFiles === undefined ? null : element("p", {}, `and ${changes.omittedFiles.toLocaleString("en")} more file${changes.omittedFiles === 1 ? "" : "s"}`);
  const kept = changes.kept === undefined ? null : element("p", {}, "Kept in ", element("code", { dir: "ltr" }, ...visible(changes.kept)));
  return element("details", { class: "trace", open: true },
    element("summary", {}, `Workspace: ${run.changes}`),
    files.length === 0 ? null : element("table", { class: "files" }, element("tbody", {}, files)), more, kept,
    changes.patch === undefined ? null : patch(changes.patch),
    changes.patchTruncated === true ? element("p", { class: "faint" }, "The patch is truncated.") : null);
}

/** A patch, line by line. */
function patch(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = element("pre", { class: "text patch", dir: "ltr", role: "group", "aria-label": "Patch", tabindex: "0" });
  const add = (some) => shown.append(...some.map((line) => element("span", { class: lineClass(line) }, ...visible(line), "\n")));
  add(lines.slice(0, MOST_LINES));
  if (lines.length <= MOST_LINES) return [shown];
  const all = element("button", { type: "button", class: "more" }, `Show all ${lines.length.toLocaleString("en")} lines`);
  all.addEventListener("click", () => {
    add(lines.slice(MOST_LINES));
    shown.focus();
    all.remove();
  });
  return [shown, all];
}

/** The class of a line of a patch. */
function lineClass(line) {
  if (/^(diff --git |--- (a\/|\/dev\/null)|\+\+\+ (b\/|\/dev\/null)|(new|deleted) file mode |(old|new) mode )/.test(line)) return "header";
  return { "@": "hunk", "+": "added", "-": "removed" }[line[0]] ?? "context";
}
