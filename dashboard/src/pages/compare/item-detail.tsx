// The details of a compared item: output diffs and evaluations.
import { ExternalLink } from 'lucide-react';
import { Link } from 'react-router';
import type { ComparedItem, ComparedOutput, ComparedRun } from '../../api/types';
import { Diff } from '../../components/diff';
import { FieldList, FieldValue } from '../../components/field-list';
import { Text, TextBlock } from '../../components/text';
import { Conversations } from './conversations';
import { LETTERS, RunLetter, runInSentence, runLabel } from './run-letter';
import { Scores } from './scores';

interface ItemDetailProps {
  item: ComparedItem;
  runs: ComparedRun[];
}

export function ItemDetail({ item, runs }: ItemDetailProps) {
  return (
    <div className="grid gap-4 rounded-md border border-line bg-surface p-4 xl:grid-cols-[minmax(0,1fr)_28rem]">
      <div className="flex min-w-0 flex-col gap-4">
        <OutputDiffs item={item} runs={runs} />
        <Conversations item={item} />
        <Scores item={item} runs={runs} />
      </div>
      <section className="min-w-0" aria-label="Item">
        <h3 className="mb-2 font-medium text-muted text-xs">Item</h3>
        <FieldList fields={item.input} />
        {item.contentChanged && (
          <p className="mt-2 text-warn text-xs">
            Input changed: the runs processed different inputs. This is the input of the last run.
          </p>
        )}
        <p className="mt-3 flex flex-wrap gap-x-4 gap-y-1">
          {runs.map(
            (run, place) =>
              item.outputs[place] != null && <ItemLink key={LETTERS[place]} {...{ run, item, place }} />,
          )}
        </p>
      </section>
    </div>
  );
}

function ItemLink({ run, item, place }: { run: ComparedRun; item: ComparedItem; place: number }) {
  return (
    <Link
      to={`/runs/${encodeURIComponent(run.id)}?${new URLSearchParams({ item: item.key })}`}
      className="inline-flex items-center gap-1.5 text-accent text-xs hover:underline"
    >
      <ExternalLink className="size-3.5" aria-hidden="true" />
      Open in {runInSentence(place)}
    </Link>
  );
}

/** The outputs of the other runs, each diffed with that of run A. */
function OutputDiffs({ item, runs }: ItemDetailProps) {
  const present = item.outputs.flatMap((output, place) => (output === null ? [] : [{ output, place }]));
  const base = item.outputs[0];
  if (base == null || present.length < 2) {
    return present.map(({ output, place }) => (
      <section key={place} aria-label={`Output of ${runLabel(place)}`}>
        <OutputHeading
          place={place}
          note={present.length < 2 ? `Only in run ${LETTERS[place]}` : 'Not in run A'}
        />
        <SingleOutput output={output} />
      </section>
    ));
  }
  const others = present.slice(1);
  return others.map(({ output, place }) => (
    <section
      key={place}
      aria-label={runs.length > 2 ? `Outputs of run A and run ${LETTERS[place]}` : 'Outputs'}
    >
      {others.length > 1 && <OutputHeading place={place} note="vs. run A" />}
      <OutputPair base={base} other={output} place={place} />
    </section>
  ));
}

function OutputPair({ base, other, place }: { base: ComparedOutput; other: ComparedOutput; place: number }) {
  const names = [runLabel(0), runLabel(place)] as const;
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
