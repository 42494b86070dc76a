// The means of the evaluators as a picture: a radar for three and more, else bars.
import { useState } from 'react';
import type { Report } from '../../api/types';
import { Panel } from '../../components/panel';
import { SegmentedControl } from '../../components/segmented-control';
import { Skeleton } from '../../components/skeleton';
import { getOwn } from '../../lib/get-own';
import { useImport } from '../../lib/use-import';
import { evaluatorsOf } from './verdict';

// The library for charts is as heavy as all the rest of the page, which does not wait for it.
const loadChart = () => import('./chart');

const KINDS = [
  { value: 'radar', name: 'Radar' },
  { value: 'bars', name: 'Bars' },
] as const;

export type ChartKind = (typeof KINDS)[number]['value'];

export function ChartPanel({ run }: { run: Report }) {
  const means = evaluatorsOf(run).flatMap((name) => {
    const stats = getOwn(run.summary.scores, name);
    return stats === undefined ? [] : [{ name, mean: stats.avg }];
  });
  const mayBeRadar = means.length >= 3;
  const [kind, setKind] = useState<ChartKind>('radar');
  const Chart = useImport(loadChart)?.default;
  return (
    <Panel
      title="Averages"
      actions={
        mayBeRadar && (
          <SegmentedControl label="Kind of chart" value={kind} options={KINDS} onChange={setKind} />
        )
      }
    >
      <figure aria-label="Average of each evaluator; the table of scores has the same figures">
        {Chart === undefined ? (
          <Skeleton label="Loading the chart" className="h-56" />
        ) : (
          <Chart means={means} kind={mayBeRadar ? kind : 'bars'} />
        )}
      </figure>
    </Panel>
  );
}
