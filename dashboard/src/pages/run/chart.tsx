// Draws means from 0 to 1. It is loaded by itself, since Recharts is large.
import {
  Bar,
  BarChart,
  LabelList,
  PolarAngleAxis,
  PolarGrid,
  PolarRadiusAxis,
  Radar,
  RadarChart,
  ResponsiveContainer,
  XAxis,
  YAxis,
} from 'recharts';
import { score } from '../../lib/format';
import { plain } from '../../lib/texts';
import type { Shape } from './chart-panel';

interface ChartProps {
  means: { name: string; mean: number }[];
  shape: Shape;
}

const HEIGHT = 220;
const LABEL = { fill: 'var(--muted)', fontSize: 12 };
/** The most characters of a name that a chart has room for. */
const ROOM = 16;

function short(name: string): string {
  const shown = plain(name);
  return shown.length > ROOM ? `${shown.slice(0, ROOM - 1)}…` : shown;
}

export default function Chart({ means, shape }: ChartProps) {
  return shape === 'radar' ? <AsRadar means={means} /> : <AsBars means={means} />;
}

function AsRadar({ means }: Pick<ChartProps, 'means'>) {
  return (
    <ResponsiveContainer width="100%" height={HEIGHT}>
      <RadarChart data={means} outerRadius="78%" accessibilityLayer={false}>
        <PolarGrid stroke="var(--line)" />
        <PolarAngleAxis dataKey="name" tick={LABEL} tickFormatter={short} />
        <PolarRadiusAxis domain={[0, 1]} tick={false} axisLine={false} />
        <Radar
          dataKey="mean"
          stroke="var(--series-1)"
          strokeWidth={2}
          fill="var(--series-1)"
          fillOpacity={0.18}
          dot={{ r: 2.5, fill: 'var(--series-1)', fillOpacity: 1 }}
          isAnimationActive={false}
        />
      </RadarChart>
    </ResponsiveContainer>
  );
}

function AsBars({ means }: Pick<ChartProps, 'means'>) {
  return (
    <ResponsiveContainer width="100%" height={Math.max(HEIGHT / 2, 36 * means.length)}>
      <BarChart data={means} layout="vertical" margin={{ right: 48 }} accessibilityLayer={false}>
        <XAxis type="number" domain={[0, 1]} hide />
        <YAxis
          type="category"
          dataKey="name"
          width={116}
          tick={LABEL}
          tickFormatter={short}
          tickLine={false}
          axisLine={false}
        />
        <Bar
          dataKey="mean"
          fill="var(--series-1)"
          barSize={14}
          radius={3}
          background={{ fill: 'var(--sunken)' }}
          isAnimationActive={false}
        >
          <LabelList
            dataKey="mean"
            position="right"
            fill="var(--text)"
            fontSize={12}
            formatter={(mean) => score(Number(mean))}
          />
        </Bar>
      </BarChart>
    </ResponsiveContainer>
  );
}
