import { expect, test } from 'vitest';
import { patchFiles, patchLines } from './patch';

test('tells headers, hunks and lines apart', () => {
  const patch =
    'diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+--- a\n-b\n c\n';
  const kinds = patchLines(patch).map(({ kind }) => kind);
  expect(kinds).toEqual(['header', 'header', 'header', 'header', 'hunk', 'added', 'removed', 'context']);
});

test('a patch is split into its files, without the lines that name them', () => {
  const patch = [
    'diff --git a/old name.txt b/new name.txt',
    '--- a/old name.txt',
    '+++ b/new name.txt',
    '@@ -1 +1 @@',
    '-a',
    '+b',
    'diff --git a/x.rs b/x.rs',
    'deleted file mode 100644',
    '--- a/x.rs',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-fn main() {}',
    '',
  ].join('\n');
  const files = patchFiles(patch).map(({ path, lines }) => [path, lines.map(({ text }) => text)]);
  expect(files).toEqual([
    ['new name.txt', ['@@ -1 +1 @@', '-a', '+b']],
    ['x.rs', ['deleted file mode 100644', '@@ -1 +0,0 @@', '-fn main() {}']],
  ]);
  expect(patchFiles('')).toEqual([]);
});
