// The lines of a patch, each with its kind.

export type PatchLineKind = 'header' | 'hunk' | 'added' | 'removed' | 'context';

interface PatchLine {
  kind: PatchLineKind;
  text: string;
}

const HEADER =
  /^(diff --git |--- (a\/|\/dev\/null)|\+\+\+ (b\/|\/dev\/null)|(new|deleted) file mode |(old|new) mode )/;

const KINDS: Record<string, PatchLineKind> = { '@': 'hunk', '+': 'added', '-': 'removed' };

/** Splits a patch into lines. A header is recognized by its beginning, as most viewers do. */
export function patchLines(patch: string): PatchLine[] {
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .map((text) => ({ kind: HEADER.test(text) ? 'header' : (KINDS[text.charAt(0)] ?? 'context'), text }));
}

export interface PatchFile {
  /** The path of the file, the new one if it was moved. */
  path: string;
  /** Without the lines that name the file. */
  lines: PatchLine[];
}

const NAMES = /^(diff --git |--- (a\/|\/dev\/null)|\+\+\+ (b\/|\/dev\/null))/;

/** Splits a patch into its files. */
export function patchFiles(patch: string): PatchFile[] {
  const files: PatchFile[] = [];
  for (const line of patch === '' ? [] : patchLines(patch)) {
    const isStart = line.text.startsWith('diff --git ');
    if (isStart || files.length === 0) files.push({ path: pathOf(line.text), lines: [] });
    const file = files.at(-1);
    if (file === undefined) continue;
    const isName = line.kind === 'header' && NAMES.test(line.text);
    if (!isName) file.lines.push(line);
    // The path of a `diff --git` line is ambiguous if it has spaces.
    else if (/^(--- a|\+\+\+ b)\//.test(line.text)) file.path = line.text.slice(6);
  }
  return files;
}

const pathOf = (header: string) => / b\/(.*)$/.exec(header)?.[1] ?? '';
