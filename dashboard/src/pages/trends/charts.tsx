// The charts of an experiment: its scores, and what its runs took.
import { lazy, Suspense } from 'react';
import type { Trends } from '../../api/types';
import { Panel } from '../../components/panel';
import { Skeleton } from '../../components/skeleton';
import { cost, count, duration, score, signed } from '../../lib/format';
import type { ChartProps } from './chart';
import type { Chosen } from './chosen';
import { Legend, Thresholds } from './legend';
import { look, type Place, type Series, scoreLines } from './series';

// Recharts is as large as all the rest of the page.
const Chart = lazy(() => import('./chart'));

type Shared = Pick<ChartProps, 'places' | 'active' | 'onActive' | 'onOpen'>;

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
            domain={scoreDomain(shared.places, shown)}
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

/** The axis of scores begins where they do, so that small changes are seen. */
export function scoreDomain(places: Place[], series: Series[]): [number, number] {
  const values = places.flatMap(({ point }) => series.map((one) => one.of(point)));
  const known = values.filter((value) => typeof value === 'number');
  const low = Math.floor(10 * (Math.min(1, ...known) - 0.02)) / 10;
  return [Math.max(0, low), 1];
}

interface Amount {
  title: string;
  series: Series[];
  quantity: 'latency' | 'tokens' | 'cost' | undefined;
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
    format: count,
    series: [{ name: 'items and evaluations', ...look(1), of: (point) => point.errors }],
  },
];

type AmountChartProps = Amount & Shared & Pick<ChartsProps, 'thresholds'>;

/** A chart of an amount, where any run has it. */
function AmountChart({ title, series, quantity, format, thresholds, ...shared }: AmountChartProps) {
  const known = series.filter((one) => shared.places.some(({ point }) => typeof one.of(point) === 'number'));
  if (known.length === 0) return null;
  const lines = thresholds.filter((line) => line.quantity === quantity);
  return (
    <Panel title={title} actions={<Thresholds of={lines} />}>
      <Drawn height={LOW}>
        <Chart
          {...shared}
          label={`${title} of each run`}
          series={known}
          thresholds={lines}
          format={format}
          formatChange={withSign(format)}
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
