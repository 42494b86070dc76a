// What the agent changed in its workspace: the files, and the patch.

import clsx from 'clsx';
import { useMemo, useState } from 'react';
import type { ChangedFile, WorkspaceChanges } from '../../../api/types';
import { CopyButton } from '../../../components/copy-button';
import { useHighlight } from '../../../components/rich/code';
import { ShowAll } from '../../../components/show-all';
import { renderText, Text } from '../../../components/text';
import { formatCount, pluralize } from '../../../lib/format';
import { languageOfFile } from '../../../lib/language';
import { type PatchFile, type PatchLineKind, patchFiles } from '../../../lib/patch';
import { Heading } from './heading';
import { Section } from './section';

/** More lines of a patch are shown on demand. */
const MAX_LINES = 400;

export function Files({ changes }: { changes: WorkspaceChanges }) {
  const { files = [], omittedFiles = 0, patch = '', patchTruncated = false, kept } = changes;
  return (
    <Section
      title="Workspace"
      actions={patch === '' ? undefined : <CopyButton text={patch} label="Copy the patch" />}
    >
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
    </Section>
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
  header: 'text-muted',
  hunk: 'bg-sunken text-muted',
  added: 'bg-good-soft',
  removed: 'bg-bad-soft',
  context: '',
};

function Patch({ patch }: { patch: string }) {
  const [isExpanded, setExpanded] = useState(false);
  const files = useMemo(() => patchFiles(patch), [patch]);
  const count = files.reduce((sum, { lines }) => sum + lines.length, 0);
  return (
    <section aria-label="Patch" className="flex flex-col gap-3">
      {(isExpanded ? files : firstLines(files, MAX_LINES)).map((file, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: files are identified by their index
        <PatchOfFile key={place} file={file} />
      ))}
      {count > MAX_LINES && !isExpanded && (
        <ShowAll count={count} noun="lines" onClick={() => setExpanded(true)} />
      )}
    </section>
  );
}

/** The files whose lines are among the first ones; the last file may lack some of its lines. */
function firstLines(files: PatchFile[], limit: number): PatchFile[] {
  let left = limit;
  return files.flatMap((file) => {
    if (left <= 0) return [];
    const lines = file.lines.slice(0, left);
    left -= file.lines.length;
    return [{ ...file, lines }];
  });
}

function PatchOfFile({ file: { path, lines } }: { file: PatchFile }) {
  const highlight = useHighlight();
  const language = languageOfFile(path);
  return (
    <div className="overflow-hidden rounded-md border border-line">
      <Heading
        depth={2}
        className="border-line border-b bg-sunken/50 px-3 py-1.5 font-medium font-mono text-xs [overflow-wrap:anywhere]"
      >
        <Text>{path}</Text>
      </Heading>
      <div dir="ltr" className="font-mono text-xs/5">
        {lines.map(({ kind, text }, place) => {
          const isCode = kind !== 'header' && kind !== 'hunk';
          const Line = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'div';
          return (
            <Line
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by their index
              key={place}
              className={clsx(
                'block min-h-5 whitespace-pre-wrap px-3 no-underline [overflow-wrap:anywhere]',
                LOOKS[kind],
              )}
            >
              {isCode && text !== '' && (
                <span className={clsx(kind === 'added' && 'text-good', kind === 'removed' && 'text-bad')}>
                  {text.charAt(0)}
                </span>
              )}
              {isCode ? highlight(text.slice(1), language) : renderText(text)}
            </Line>
          );
        })}
      </div>
    </div>
  );
}
