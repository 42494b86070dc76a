// The charts of an experiment: scores, latency, tokens, costs and errors.
import type { ComponentType, ReactNode } from 'react';
import type { Trends as TrendsResponse } from '../../../api/types';
import { Imported } from '../../../components/imported';
import { Panel } from '../../../components/panel';
import { Skeleton } from '../../../components/skeleton';
import { formatCost, formatCount, formatDuration, formatScore, formatSigned } from '../../../lib/format';
import type { ChartProps } from './chart';
import { Legend, LineNames, Thresholds } from './legend';
import type { TrendsParameters } from './parameters';
import { lineStyle, lowestTick, type PlottedRun, type Series, scoreThresholds } from './series';

// Loaded on demand: Recharts is as large as the rest of the page.
const loadChart = () => import('./chart');

type Shared = Pick<ChartProps, 'axis' | 'runs' | 'active' | 'onActive' | 'onOpen'>;

interface ChartsProps extends Shared {
  scores: Series[];
  thresholds: TrendsResponse['thresholds'];
  parameters: TrendsParameters;
}

/** Formats a difference with its sign, in the format of the metric. */
const signedFormat = (format: (value: number) => string) => (value: number) =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`;

const SCORES_HEIGHT = 320;
const METRIC_HEIGHT = 200;

export function Charts({ scores, thresholds, parameters, ...shared }: ChartsProps) {
  const { hidden, toggle } = parameters;
  const shown = scores.filter(({ name }) => !hidden.includes(name));
  const lines = scoreThresholds(
    thresholds,
    shown.map(({ name }) => name),
  );
  const tenths = scoreTicks(shared.runs, shown, lines);
  return (
    <>
      <Panel title="Scores">
        <Legend series={scores} hidden={hidden} onToggle={toggle} thresholds={lines} />
        <ChartFrame height={SCORES_HEIGHT}>
          {(Chart) => (
            <Chart
              {...shared}
              label="Mean scores per run"
              series={shown}
              thresholds={lines}
              format={formatScore}
              formatChange={formatSigned}
              domain={[tenths[0] ?? 0, 1]}
              ticks={tenths}
              height={SCORES_HEIGHT}
            />
          )}
        </ChartFrame>
      </Panel>
      <div className="grid gap-4 lg:grid-cols-2">
        {METRICS.map((metric) => (
          <MetricChart key={metric.title} {...metric} {...shared} thresholds={thresholds} />
        ))}
      </div>
    </>
  );
}

/** The ticks of the score axis: tenths, up to 1. */
export function scoreTicks(
  runs: PlottedRun[],
  series: Series[],
  lines: TrendsResponse['thresholds'],
): number[] {
  const values = runs.flatMap(({ point }) => series.map((one) => one.value(point)));
  const known = [...values, ...lines.map((line) => line.bound)].filter((value) => typeof value === 'number');
  const first = Math.round(10 * lowestTick(known));
  return Array.from({ length: 11 - first }, (_, index) => (first + index) / 10);
}

interface Metric {
  title: string;
  series: Series[];
  quantity: 'latency' | 'tokens' | 'cost' | undefined;
  isCount?: boolean;
  format: (value: number) => string;
}

const METRICS: Metric[] = [
  {
    title: 'Latency',
    quantity: 'latency',
    format: formatDuration,
    series: [{ name: 'mean per item', ...lineStyle(0), value: (point) => point.avgLatencyMs }],
  },
  {
    title: 'Tokens',
    quantity: 'tokens',
    isCount: true,
    format: formatCount,
    series: [{ name: 'agent tokens', ...lineStyle(2), value: (point) => point.totalTokens }],
  },
  {
    title: 'Costs',
    quantity: 'cost',
    format: formatCost,
    series: [
      { name: 'agent cost', ...lineStyle(3), value: (point) => point.cost },
      { name: 'judge cost', ...lineStyle(4), dash: '6 3', value: (point) => point.judgeCost },
      { name: 'user cost', ...lineStyle(5), dash: '2 3', value: (point) => point.userCost },
    ],
  },
  {
    title: 'Errors',
    quantity: undefined,
    isCount: true,
    format: formatCount,
    series: [{ name: 'agent and scoring errors', ...lineStyle(1), value: (point) => point.errors }],
  },
];

type MetricChartProps = Metric & Shared & Pick<ChartsProps, 'thresholds'>;

/** The chart of a metric. Renders nothing if no run has a value. */
function MetricChart({ title, series, quantity, isCount, format, thresholds, ...shared }: MetricChartProps) {
  const known = series.filter((one) => shared.runs.some(({ point }) => typeof one.value(point) === 'number'));
  if (known.length === 0) return null;
  const lines = thresholds.filter((line) => line.quantity === quantity);
  return (
    <Panel
      title={title}
      actions={
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {known.length > 1 && <LineNames series={known} />}
          <Thresholds thresholds={lines} />
        </div>
      }
    >
      <ChartFrame height={METRIC_HEIGHT}>
        {(Chart) => (
          <Chart
            {...shared}
            label={`${title} per run`}
            series={known}
            thresholds={lines}
            format={format}
            formatChange={signedFormat(format)}
            isCount={isCount}
            domain={[0, 'auto']}
            height={METRIC_HEIGHT}
          />
        )}
      </ChartFrame>
    </Panel>
  );
}

interface ChartFrameProps {
  height: number;
  children: (Chart: ComponentType<ChartProps>) => ReactNode;
}

function ChartFrame({ height, children }: ChartFrameProps) {
  return (
    <Imported
      load={loadChart}
      name="the chart"
      placeholder={<Skeleton label="Loading chart" className={height === SCORES_HEIGHT ? 'h-80' : 'h-50'} />}
    >
      {({ default: Chart }) => children(Chart)}
    </Imported>
  );
}
