// What the agent changed in its workspace: the files, and the patch.

import clsx from 'clsx';
import { useMemo, useState } from 'react';
import type { ChangedFile, WorkspaceChanges } from '../../api/types';
import { ShowAll } from '../../components/show-all';
import { renderText, Text } from '../../components/text';
import { formatCount, pluralize } from '../../lib/format';
import { type PatchLineKind, patchLines } from '../../lib/patch';

/** More lines of a patch are shown on demand. */
const MAX_LINES = 400;

export function Files({ changes }: { changes: WorkspaceChanges }) {
  const { files = [], omittedFiles = 0, patch = '', patchTruncated = false, kept } = changes;
  return (
    <div className="flex flex-col gap-3">
      {files.length === 0 ? <p className="text-muted">No file changed</p> : <FileTable files={files} />}
      {omittedFiles > 0 && <p className="text-muted text-xs">and {pluralize(omittedFiles, 'more file')}</p>}
      {kept != null && (
        <p className="text-xs">
          Kept in{' '}
          <code>
            <Text>{kept}</Text>
          </code>
        </p>
      )}
      {patch !== '' && <Patch patch={patch} />}
      {patchTruncated && <p className="text-muted text-xs">The patch is truncated.</p>}
    </div>
  );
}

function FileTable({ files }: { files: ChangedFile[] }) {
  return (
    <table className="w-full text-xs">
      <thead className="sr-only">
        <tr>
          <th scope="col">Change</th>
          <th scope="col">File</th>
          <th scope="col">Lines</th>
        </tr>
      </thead>
      <tbody>
        {files.map(({ path, change, addedLines = 0, removedLines = 0, bytes = 0, binary = false }) => (
          <tr key={path}>
            <td className="w-0 py-0.5 pr-3 text-muted">{change}</td>
            <td className="py-0.5 font-mono [overflow-wrap:anywhere]">
              <Text>{path}</Text>
            </td>
            <td className="w-0 whitespace-nowrap py-0.5 pl-3 text-right tabular-nums">
              {binary ? (
                <span className="text-muted">binary, {formatCount(bytes)} bytes</span>
              ) : (
                <>
                  <span className="text-good">+{formatCount(addedLines)}</span>{' '}
                  <span className="text-bad">−{formatCount(removedLines)}</span>
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const LOOKS: Record<PatchLineKind, string> = {
  header: 'font-semibold',
  hunk: 'text-muted',
  added: 'bg-good-soft text-good',
  removed: 'bg-bad-soft text-bad',
  context: '',
};

function Patch({ patch }: { patch: string }) {
  const [isExpanded, setExpanded] = useState(false);
  const lines = useMemo(() => patchLines(patch), [patch]);
  const shown = isExpanded ? lines : lines.slice(0, MAX_LINES);
  return (
    <div>
      <section
        dir="ltr"
        aria-label="Patch"
        className="max-h-[32rem] overflow-auto rounded-md border border-line bg-sunken/50 py-2 font-mono text-xs/5"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
      >
        {shown.map(({ kind, text }, place) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by their index
            key={place}
            className={clsx('min-h-5 whitespace-pre-wrap px-3 [overflow-wrap:anywhere]', LOOKS[kind])}
          >
            {renderText(text)}
          </div>
        ))}
      </section>
      {lines.length > MAX_LINES && !isExpanded && (
        <ShowAll count={lines.length} noun="lines" onClick={() => setExpanded(true)} />
      )}
    </div>
  );
}
