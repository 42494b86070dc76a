// The means of the evaluators as a picture: a radar for three and more, else bars.
import { useState } from 'react';
import type { Report } from '../../api/types';
import { Choice } from '../../components/choice';
import { Panel } from '../../components/panel';
import { Skeleton } from '../../components/skeleton';
import { own } from '../../lib/own';
import { useLoaded } from '../../lib/use-loaded';
import { evaluatorsOf } from './verdict';

// The library for charts is as heavy as all the rest of the page, which does not wait for it.
const loadChart = () => import('./chart');

const SHAPES = [
  { value: 'radar', name: 'Radar' },
  { value: 'bars', name: 'Bars' },
] as const;

export type Shape = (typeof SHAPES)[number]['value'];

export function ChartPanel({ run }: { run: Report }) {
  const means = evaluatorsOf(run).flatMap((name) => {
    const stats = own(run.summary.scores, name);
    return stats === undefined ? [] : [{ name, mean: stats.avg }];
  });
  const mayBeRadar = means.length >= 3;
  const [shape, setShape] = useState<Shape>('radar');
  const Chart = useLoaded(loadChart)?.default;
  return (
    <Panel
      title="Averages"
      actions={
        mayBeRadar && <Choice label="Kind of chart" value={shape} options={SHAPES} onChange={setShape} />
      }
    >
      <figure aria-label="Average of each evaluator; the table of scores has the same figures">
        {Chart === undefined ? (
          <Skeleton label="Loading the chart" className="h-56" />
        ) : (
          <Chart means={means} shape={mayBeRadar ? shape : 'bars'} />
        )}
      </figure>
    </Panel>
  );
}
