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
