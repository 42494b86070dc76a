// One metric of the runs against another, such as the score against the cost.
import { useMemo, useState } from 'react';
import type { TrendPoint } from '../../../api/types';
import { Imported } from '../../../components/imported';
import { Panel } from '../../../components/panel';
import { Select } from '../../../components/select';
import { Skeleton } from '../../../components/skeleton';
import { Verdict } from '../../../components/verdict';
import { formatDateTime, pluralize, shortCommit } from '../../../lib/format';
import { escapeHidden } from '../../../lib/texts';
import type { TrendsParameters } from './parameters';
import { axesOf, type Metric, metricsOf, type ScatterPoint, scatterPoints } from './scatter-axes';

// Loaded on demand, with Recharts.
const loadScatter = () => import('./scatter');

interface RunScatterProps {
  points: TrendPoint[];
  parameters: TrendsParameters;
  onOpen: (id: string) => void;
}

/** Renders nothing if there is nothing to draw. */
export function RunScatter({ points, parameters, onOpen }: RunScatterProps) {
  const [active, setActive] = useState<string>();
  const { scatterX, scatterY, set } = parameters;
  const metrics = useMemo(() => metricsOf(points), [points]);
  const axes = useMemo(() => axesOf(metrics, scatterX, scatterY), [metrics, scatterX, scatterY]);
  const drawn = useMemo(() => (axes === undefined ? [] : scatterPoints(points, axes)), [points, axes]);
  if (axes === undefined) return null;
  const [across, up] = axes;
  const missing = points.length - drawn.length;
  const options = metrics.map(({ key, name }) => ({ value: key, name: escapeHidden(name) }));
  return (
    <Panel
      title="Score, latency and cost"
      actions={
        <div className="grid grid-cols-2 gap-2 sm:flex">
          <Select
            label="Vertical axis"
            value={up.key}
            options={options}
            onChange={(y) => set({ y })}
            className="min-w-0 sm:max-w-56"
          />
          <Select
            label="Horizontal axis"
            value={across.key}
            options={options}
            onChange={(x) => set({ x })}
            className="min-w-0 sm:max-w-56"
          />
        </div>
      }
    >
      <ActiveRun run={drawn.find(({ point }) => point.id === active)} axes={axes} />
      <Imported
        load={loadScatter}
        name="the chart"
        placeholder={<Skeleton label="Loading chart" className="h-80" />}
      >
        {({ default: Scatter }) => (
          <Scatter points={drawn} axes={axes} active={active} onActive={setActive} onOpen={onOpen} />
        )}
      </Imported>
      {missing > 0 && (
        <p className="mt-2 text-muted text-xs">
          Not drawn: {pluralize(missing, 'run')} without both metrics.
        </p>
      )}
    </Panel>
  );
}

/** Says which run is under the pointer or has the focus. */
function ActiveRun({ run, axes }: { run: ScatterPoint | undefined; axes: [Metric, Metric] }) {
  if (run === undefined) {
    return (
      <p className="min-h-6 text-muted text-xs/6">
        Point at a run, or move between them with the arrow keys.
      </p>
    );
  }
  const { point, x, y } = run;
  const [across, up] = axes;
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-3 text-xs tabular-nums">
      <span className="font-medium">{formatDateTime(point.timestamp)}</span>
      <Verdict verdict={point.verdict} />
      {typeof point.gitCommit === 'string' && (
        <code className="font-mono text-muted">{shortCommit(point.gitCommit)}</code>
      )}
      <span>
        {escapeHidden(up.name)} {up.format(y)}
      </span>
      <span>
        {escapeHidden(across.name)} {across.format(x)}
      </span>
      <span className="text-muted">Click or press Enter to open the run</span>
    </p>
  );
}
