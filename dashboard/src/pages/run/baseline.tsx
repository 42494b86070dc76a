// What became better or worse since the run that this one was held against.
import { Link } from 'react-router';
import { address } from '../../api/client';
import type { Comparison, Difference } from '../../api/types';
import { DifferenceVerdict } from '../../components/difference-verdict';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { counted, score, signed } from '../../lib/format';
import { plain } from '../../lib/texts';

/** The most items that are named here; the comparison has all. */
const MOST = 6;

interface BaselineProps {
  comparison: Comparison;
  /** The address of an item of this run. */
  itemAt: (key: string) => string;
}

export function Baseline({ comparison, itemAt }: BaselineProps) {
  const { base, other, evaluators, regressed = [], notes } = comparison;
  return (
    <Panel
      title="Since the baseline"
      actions={
        <Link
          to={address('/compare', { a: base.id, b: other.id })}
          className="text-accent text-xs hover:underline"
        >
          Compare
        </Link>
      }
    >
      <ul className="flex flex-col gap-1.5">
        {evaluators.map((difference) => (
          <Change key={difference.name} difference={difference} />
        ))}
      </ul>
      {regressed.length > 0 && (
        <>
          <h3 className="mt-3 mb-1 border-line border-t pt-3 text-muted text-xs">Items that became worse</h3>
          <ul className="flex flex-col gap-1">
            {regressed.slice(0, MOST).map(({ key, failed, scores }) => (
              <li key={key} className="flex items-baseline justify-between gap-3">
                <Link to={itemAt(key)} className="min-w-0 truncate text-accent hover:underline">
                  <Text>{key}</Text>
                </Link>
                <span className="whitespace-nowrap text-muted text-xs tabular-nums">
                  {failed === true
                    ? 'failed'
                    : scores
                        .slice(0, 1)
                        .map(
                          ({ evaluator, base, other }) =>
                            `${plain(evaluator)} ${figure(base)} → ${figure(other)}`,
                        )}
                </span>
              </li>
            ))}
          </ul>
          {regressed.length > MOST && (
            <p className="mt-1 text-muted text-xs">and {counted(regressed.length - MOST, 'more item')}</p>
          )}
        </>
      )}
      {notes.map((note) => (
        <p key={note} className="mt-2 text-warn text-xs">
          {note}
        </p>
      ))}
    </Panel>
  );
}

const figure = (value: number | null) => (value === null ? '–' : score(value));

function Change({ difference: { name, base, other, difference, verdict } }: { difference: Difference }) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto_7.5rem] items-center sm:grid-cols-[minmax(0,1fr)_auto_auto_7.5rem] gap-x-3 tabular-nums">
      <span className="truncate">
        <Text>{name}</Text>
      </span>
      <span className="text-muted text-xs max-sm:sr-only">
        {score(base)} → {score(other)}
      </span>
      <span className="text-right">{signed(difference)}</span>
      <span className="text-right">
        <DifferenceVerdict of={verdict} />
      </span>
    </li>
  );
}
