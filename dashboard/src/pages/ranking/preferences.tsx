// What a judge that compares two outputs prefers: the strength of each run.
import type { Preference, Ranking } from '../../api/types';
import { Text } from '../../components/text';
import { formatSigned, pluralize } from '../../lib/format';

interface PreferencesProps {
  preference: Preference;
  ranking: Ranking;
  name: string;
}

export function Preferences({ preference, ranking, name }: PreferencesProps) {
  const { strengths, ci95, otherAnswers, otherAnswersCi95, firstPosition, comparisons } = preference;
  const rows = strengths.map((strength, place) => ({
    label: ranking.runs[place]?.label ?? '',
    strength,
    interval: ci95[place],
  }));
  rows.push({ label: 'Other answers', strength: otherAnswers, interval: otherAnswersCi95 });
  rows.sort((one, other) => other.strength - one.strength);
  return (
    <>
      <table className="w-full max-w-xl text-left">
        <caption className="sr-only">Strengths, strongest first</caption>
        <thead className="text-muted text-xs">
          <tr className="[&>th]:pb-1.5 [&>th]:font-medium">
            <th scope="col">{name}</th>
            <th scope="col" className="px-3 text-right">
              Strength
            </th>
            <th scope="col" className="text-right">
              95% CI
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line border-line border-t">
          {rows.map(({ label, strength, interval }) => (
            <tr key={label} className="[&>*]:py-2">
              <th scope="row" className="font-medium [overflow-wrap:anywhere]">
                <Text>{label}</Text>
              </th>
              <td className="px-3 text-right tabular-nums">{formatSigned(strength, 2)}</td>
              <td className="text-right text-muted whitespace-nowrap tabular-nums">
                {interval && `${formatSigned(interval.low, 2)} to ${formatSigned(interval.high, 2)}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-3 text-muted text-xs">
        Bradley–Terry model of {pluralize(comparisons, 'comparison')}. With a difference of 1, the stronger
        one wins 73% of the comparisons.
        {firstPosition != null &&
          ` The judge's preference for the first position: ${formatSigned(firstPosition, 2)}.`}
      </p>
    </>
  );
}
