// An item in compare mode: the outputs of the runs side by side, with their differences, conversations and scores.
import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { Link } from 'react-router';
import { comparedItemQuery } from '../../../api/queries';
import type { ComparedItem, ComparedOutput, Report } from '../../../api/types';
import { Diff } from '../../../components/diff';
import { ErrorMessage } from '../../../components/error-message';
import { FieldValue } from '../../../components/field-list';
import { Skeleton } from '../../../components/skeleton';
import { Text, TextBlock } from '../../../components/text';
import { besideTable } from '../../../lib/item-addresses';
import { Conversations } from './conversations';
import { useComparedRuns } from './parameters';
import { referenceName } from './reference';
import { type ReferenceName, RunLetter, runInSentence, runLabel } from './run-letter';
import { Scores } from './scores';

interface ComparedOutputsProps {
  /** The run of the page. */
  run: Report;
  itemKey: string;
}

/** Renders nothing outside compare mode. */
export function ComparedOutputs({ run, itemKey }: ComparedOutputsProps) {
  const ids = useComparedRuns(run.id);
  if (ids.length < 2) return null;
  const reference = referenceName(run, ids[0]);
  return (
    <section aria-label={`Compared with the ${reference}`} className="border-line border-b px-4 py-3">
      <h3 className="mb-2 font-semibold">Compared with the {reference}</h3>
      <Loaded ids={ids} itemKey={itemKey} reference={reference} />
    </section>
  );
}

interface LoadedProps {
  ids: string[];
  itemKey: string;
  reference: ReferenceName;
}

function Loaded({ ids, itemKey, reference }: LoadedProps) {
  const { data: item, isError, error, refetch } = useQuery(comparedItemQuery(ids, itemKey));
  if (isError)
    return <ErrorMessage title="Failed to load the other outputs" error={error} onRetry={refetch} />;
  if (item === undefined) return <Skeleton label="Loading the other outputs" className="h-24" />;
  if (item === null) return <p className="text-muted">None of the compared runs has this item.</p>;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {item.contentChanged && (
        <p className="text-warn text-xs">Input changed: the runs processed different inputs.</p>
      )}
      <OutputDiffs item={item} reference={reference} />
      <Conversations item={item} reference={reference} />
      <Scores item={item} reference={reference} />
      <p className="flex flex-wrap gap-x-4 gap-y-1">
        {ids.map(
          (id, place) =>
            place !== 1 &&
            item.outputs[place] != null && (
              <Link
                // biome-ignore lint/suspicious/noArrayIndexKey: a run may be compared with itself
                key={`${id} ${place}`}
                to={besideTable(id, item.key)}
                className="inline-flex items-center gap-1.5 text-accent text-xs hover:underline"
              >
                <ExternalLink className="size-3.5" aria-hidden="true" />
                Open in {place === 0 ? `the ${reference}` : runInSentence(place, reference)}
              </Link>
            ),
        )}
      </p>
    </div>
  );
}

interface OutputDiffsProps {
  item: ComparedItem;
  reference: ReferenceName;
}

/** The outputs of the other runs, each diffed with that of the reference. */
function OutputDiffs({ item, reference }: OutputDiffsProps) {
  const present = item.outputs.flatMap((output, place) => (output === null ? [] : [{ output, place }]));
  const base = item.outputs[0];
  if (base == null || present.length < 2) {
    return present.map(({ output, place }) => (
      <section key={place} aria-label={`Output of ${runInSentence(place, reference)}`}>
        <OutputHeading
          place={place}
          note={
            present.length < 2
              ? `Only in ${place === 0 ? `the ${reference}` : runInSentence(place, reference)}`
              : `Not in the ${reference}`
          }
        />
        <SingleOutput output={output} />
      </section>
    ));
  }
  const others = present.slice(1);
  return others.map(({ output, place }) => (
    <section
      key={place}
      aria-label={
        others.length > 1
          ? `Outputs of the ${reference} and ${runInSentence(place, reference)}`
          : 'Compared outputs'
      }
    >
      {others.length > 1 && <OutputHeading place={place} note={`vs. ${reference}`} />}
      <OutputPair base={base} other={output} names={[runLabel(0, reference), runLabel(place, reference)]} />
    </section>
  ));
}

interface OutputPairProps {
  base: ComparedOutput;
  other: ComparedOutput;
  names: [string, string];
}

function OutputPair({ base, other, names }: OutputPairProps) {
  if (base.output != null && other.output != null) {
    return <Diff before={base.output.output} after={other.output.output} names={names} view="sides" />;
  }
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {[base, other].map((output, side) => (
        <div key={names[side]} className="min-w-0">
          <p className="mb-1 font-medium text-muted text-xs">{names[side]}</p>
          <SingleOutput output={output} />
        </div>
      ))}
    </div>
  );
}

function OutputHeading({ place, note }: { place: number; note: string }) {
  return (
    <h3 className="mb-2 flex items-center gap-2 font-medium text-muted text-xs">
      <RunLetter place={place} /> {note}
    </h3>
  );
}

const BOX = 'rounded-md border px-3 py-2';

/** An output, or the error. */
function SingleOutput({ output }: { output: ComparedOutput }) {
  if (output.output != null) {
    return (
      <div className={`${BOX} border-line bg-sunken/50`}>
        <FieldValue value={output.output.output} />
      </div>
    );
  }
  return (
    <div className={`${BOX} border-bad bg-bad-soft text-bad`}>
      <p className="font-medium">
        <Text>{output.status}</Text>
      </p>
      <TextBlock>{output.error ?? 'No error message'}</TextBlock>
    </div>
  );
}
