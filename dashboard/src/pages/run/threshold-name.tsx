// The name of a threshold, split into metric and bound.
import { Text } from '../../components/text';

const SIGNS: Record<string, string> = { '>=': '≥', '<=': '≤', '>': '>', '<': '<' };

/** Splits the name of a threshold: `score.avg` and `≥ 0.8`. */
function splitThreshold(name: string): [metric: string, bound: string] {
  const match = /^(.*\S)\s*(>=|<=|>|<)\s*([^<>=]+)$/.exec(name);
  return match === null ? [name, ''] : [match[1] ?? '', `${SIGNS[match[2] ?? '']} ${match[3]}`];
}

export function ThresholdName({ name }: { name: string }) {
  const [metric, bound] = splitThreshold(name);
  return (
    <span className="font-mono text-xs/5 [overflow-wrap:anywhere]">
      <Text>{metric}</Text> <span className="whitespace-nowrap text-muted">{bound}</span>
    </span>
  );
}
