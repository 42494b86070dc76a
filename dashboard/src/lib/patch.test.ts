import { expect, test } from 'vitest';
import { patchLines } from './patch';

test('tells headers, hunks and lines apart', () => {
  const patch =
    'diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+--- a\n-b\n c\n';
  const kinds = patchLines(patch).map(({ kind }) => kind);
  expect(kinds).toEqual(['header', 'header', 'header', 'header', 'hunk', 'added', 'removed', 'context']);
});
