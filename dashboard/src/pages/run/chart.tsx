// Draws mean scores from 0 to 1. Loaded on demand, since Recharts is large.
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
import { formatScore } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import type { ChartKind } from './chart-panel';

interface ChartProps {
  means: { name: string; mean: number }[];
  kind: ChartKind;
}

const HEIGHT = 220;
const LABEL = { fill: 'var(--muted)', fontSize: 12 };
/** Longer names are truncated. */
const MAX_NAME_LENGTH = 16;

function shortName(name: string): string {
  const shown = escapeHidden(name);
  return shown.length > MAX_NAME_LENGTH ? `${shown.slice(0, MAX_NAME_LENGTH - 1)}…` : shown;
}

export default function Chart({ means, kind }: ChartProps) {
  return kind === 'radar' ? <RadarView means={means} /> : <BarsView means={means} />;
}

function RadarView({ means }: Pick<ChartProps, 'means'>) {
  return (
    <ResponsiveContainer width="100%" height={HEIGHT}>
      <RadarChart data={means} outerRadius="78%" accessibilityLayer={false}>
        <PolarGrid stroke="var(--line)" />
        <PolarAngleAxis dataKey="name" tick={LABEL} tickFormatter={shortName} />
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

function BarsView({ means }: Pick<ChartProps, 'means'>) {
  return (
    <ResponsiveContainer width="100%" height={Math.max(HEIGHT / 2, 36 * means.length)}>
      <BarChart data={means} layout="vertical" margin={{ right: 48 }} accessibilityLayer={false}>
        <XAxis type="number" domain={[0, 1]} hide />
        <YAxis
          type="category"
          dataKey="name"
          width={116}
          tick={LABEL}
          tickFormatter={shortName}
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
            formatter={(mean) => formatScore(Number(mean))}
          />
        </Bar>
      </BarChart>
    </ResponsiveContainer>
  );
}
