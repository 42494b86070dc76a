// The origin of a run whose stored outputs were scored again.

import { RotateCcw } from 'lucide-react';
import { Link } from 'react-router';
import type { Report } from '../../api/types';
import { Text } from '../../components/text';
import { Time } from '../../components/time';
import { runUrl } from '../../lib/addresses';
import { FactStrip } from './fact-strip';

/** Renders nothing if the run called the agent itself. */
export function RunRescored({ run: { rescored } }: { run: Report }) {
  if (rescored == null) return null;
  const { run, timestamp, evaluators, notes = [] } = rescored;
  return (
    <FactStrip label="Re-scored" icon={RotateCcw} line="Re-scored: the agent was not called">
      <p className="min-w-0">
        Outputs, latency and agent cost are those of{' '}
        <Link to={runUrl(run)} className="text-accent hover:underline">
          run <code className="font-mono text-xs">{run}</code>
        </Link>{' '}
        (<Time timestamp={timestamp} />
        ).
        {evaluators.length > 0 && (
          <>
            {' '}
            Scored again by <Text>{evaluators.join(', ')}</Text>.
          </>
        )}
      </p>
      {notes.length > 0 && (
        <ul aria-label="Limits of re-scoring" className="w-full list-disc pl-5 text-warn text-xs">
          {notes.map((note) => (
            <li key={note} className="[overflow-wrap:anywhere]">
              <Text>{note}</Text>
            </li>
          ))}
        </ul>
      )}
    </FactStrip>
  );
}
