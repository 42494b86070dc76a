// The result files that could not be read.
import { TriangleAlert } from 'lucide-react';
import type { Runs } from '../../api/types';
import { Text } from '../../components/text';
import { pluralize } from '../../lib/format';

export function SkippedFiles({ files }: { files: Runs['skipped'] }) {
  if (files.length === 0) return null;
  return (
    <details className="rounded-lg border border-line bg-warn-soft text-warn">
      <summary className="flex cursor-pointer items-center gap-2 px-4 py-2 font-medium">
        <TriangleAlert className="size-4 shrink-0" aria-hidden="true" />
        Skipped {pluralize(files.length, 'unreadable file')}
      </summary>
      <ul className="max-h-72 overflow-y-auto border-line border-t bg-surface px-4 py-2 text-text">
        {files.map(({ file, reason }) => (
          <li key={file} className="py-1 [overflow-wrap:anywhere]">
            <span className="font-mono text-xs">
              <Text>{file}</Text>
            </span>
            <span className="block text-muted text-xs">
              <Text>{reason}</Text>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
