// A chart of the mean scores: a radar for three or more evaluators, otherwise bars.
import { useState } from 'react';
import type { Report } from '../../api/types';
import { Panel } from '../../components/panel';
import { SegmentedControl } from '../../components/segmented-control';
import { Skeleton } from '../../components/skeleton';
import { getOwn } from '../../lib/get-own';
import { useImport } from '../../lib/use-import';
import { evaluatorsOf } from './verdict';

// Loaded on demand: the chart library is as large as the rest of the page.
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
  const allowsRadar = means.length >= 3;
  const [kind, setKind] = useState<ChartKind>('radar');
  const Chart = useImport(loadChart)?.default;
  return (
    <Panel
      title="Mean scores"
      actions={
        allowsRadar && <SegmentedControl label="Chart type" value={kind} options={KINDS} onChange={setKind} />
      }
    >
      <figure aria-label="Mean score of each evaluator; the scores table has the same values">
        {Chart === undefined ? (
          <Skeleton label="Loading chart" className="h-56" />
        ) : (
          <Chart means={means} kind={allowsRadar ? kind : 'bars'} />
        )}
      </figure>
    </Panel>
  );
}
