// The charts of an experiment: its scores, and what its runs took.
import { lazy, Suspense } from 'react';
import type { Trends } from '../../api/types';
import { Panel } from '../../components/panel';
import { Skeleton } from '../../components/skeleton';
import { cost, count, duration, score, signed } from '../../lib/format';
import type { ChartProps } from './chart';
import type { Chosen } from './chosen';
import { Legend, Names, Thresholds } from './legend';
import { look, type Place, type Series, scoreLines } from './series';

// Recharts is as large as all the rest of the page.
const Chart = lazy(() => import('./chart'));

type Shared = Pick<ChartProps, 'axis' | 'places' | 'active' | 'onActive' | 'onOpen'>;

interface ChartsProps extends Shared {
  scores: Series[];
  thresholds: Trends['thresholds'];
  chosen: Chosen;
}

/** A difference with its sign, in the words of a figure. */
const withSign = (format: (value: number) => string) => (value: number) =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`;

const TALL = 320;
const LOW = 200;

export function Charts({ scores, thresholds, chosen, ...shared }: ChartsProps) {
  const { hidden, toggle } = chosen;
  const shown = scores.filter(({ name }) => !hidden.includes(name));
  const lines = scoreLines(
    thresholds,
    shown.map(({ name }) => name),
  );
  const tenths = scoreMarks(shared.places, shown, lines);
  return (
    <>
      <Panel title="Scores">
        <Legend series={scores} hidden={hidden} onToggle={toggle} thresholds={lines} />
        <Drawn height={TALL}>
          <Chart
            {...shared}
            label="Mean scores of each run"
            series={shown}
            thresholds={lines}
            format={score}
            formatChange={signed}
            domain={[tenths[0] ?? 0, 1]}
            marks={tenths}
            height={TALL}
          />
        </Drawn>
      </Panel>
      <div className="grid gap-4 lg:grid-cols-2">
        {AMOUNTS.map((amount) => (
          <AmountChart key={amount.title} {...amount} {...shared} thresholds={thresholds} />
        ))}
      </div>
    </>
  );
}

/** The marks of the axis of scores: tenths, from below what is drawn, so that small changes are seen. */
export function scoreMarks(places: Place[], series: Series[], lines: Trends['thresholds']): number[] {
  const values = places.flatMap(({ point }) => series.map((one) => one.of(point)));
  const known = [...values, ...lines.map((line) => line.bound)].filter((value) => typeof value === 'number');
  const first = Math.max(0, Math.floor(10 * Math.min(0.9, ...known) - 0.2));
  return Array.from({ length: 11 - first }, (_, index) => (first + index) / 10);
}

interface Amount {
  title: string;
  series: Series[];
  quantity: 'latency' | 'tokens' | 'cost' | undefined;
  isCount?: boolean;
  format: (value: number) => string;
}

const AMOUNTS: Amount[] = [
  {
    title: 'Latency',
    quantity: 'latency',
    format: duration,
    series: [{ name: 'mean of an item', ...look(0), of: (point) => point.avgLatencyMs }],
  },
  {
    title: 'Tokens',
    quantity: 'tokens',
    isCount: true,
    format: count,
    series: [{ name: 'of the agent', ...look(2), of: (point) => point.totalTokens }],
  },
  {
    title: 'Cost',
    quantity: 'cost',
    format: cost,
    series: [
      { name: 'of the agent', ...look(3), of: (point) => point.cost },
      { name: 'of the judges', ...look(4), dash: '6 3', of: (point) => point.judgeCost },
    ],
  },
  {
    title: 'Errors',
    quantity: undefined,
    isCount: true,
    format: count,
    series: [{ name: 'items and evaluations', ...look(1), of: (point) => point.errors }],
  },
];

type AmountChartProps = Amount & Shared & Pick<ChartsProps, 'thresholds'>;

/** A chart of an amount, where any run has it. */
function AmountChart({ title, series, quantity, isCount, format, thresholds, ...shared }: AmountChartProps) {
  const known = series.filter((one) => shared.places.some(({ point }) => typeof one.of(point) === 'number'));
  if (known.length === 0) return null;
  const lines = thresholds.filter((line) => line.quantity === quantity);
  return (
    <Panel
      title={title}
      actions={
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {known.length > 1 && <Names of={known} />}
          <Thresholds of={lines} />
        </div>
      }
    >
      <Drawn height={LOW}>
        <Chart
          {...shared}
          label={`${title} of each run`}
          series={known}
          thresholds={lines}
          format={format}
          formatChange={withSign(format)}
          isCount={isCount}
          domain={[0, 'auto']}
          height={LOW}
        />
      </Drawn>
    </Panel>
  );
}

function Drawn({ height, children }: { height: number; children: React.ReactNode }) {
  return (
    <Suspense fallback={<Skeleton label="Drawing" className={height === TALL ? 'h-80' : 'h-50'} />}>
      {children}
    </Suspense>
  );
}
