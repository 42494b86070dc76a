// Starts compare mode: with the previous run, the baseline, or any other.
import { GitCompareArrows } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Overview } from '../../../api/types';
import { Button, buttonLook } from '../../../components/button';
import { comparisonOf } from '../../../lib/addresses';
import { useChooseRuns, useComparedRuns } from './parameters';
import { suggestedRuns } from './reference';
import { RunPicker } from './run-picker';

/** A link for each likely reference, and a button for others. */
export function CompareActions({ overview }: { overview: Overview }) {
  const { run } = overview;
  const [isPicking, setIsPicking] = useState(false);
  const onChoose = useChooseRuns(run.id);
  const suggested = suggestedRuns(overview);
  const [reference] = useComparedRuns(run.id);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a row in all browsers
    <div role="group" aria-label="Compare" className="flex flex-wrap items-center">
      {suggested.map(({ id, name }, place) => (
        <Link
          key={name}
          to={comparisonOf([id, run.id])}
          aria-current={id === reference ? 'true' : undefined}
          className={`${buttonLook()} rounded-r-none aria-[current=true]:bg-accent-soft aria-[current=true]:text-accent ${place > 0 ? 'rounded-l-none border-l-0' : ''}`}
        >
          {place === 0 && <GitCompareArrows aria-hidden="true" />}
          <span>
            <span className="sr-only">Compare with </span>
            {place === 0 && <span aria-hidden="true">vs. </span>}
            {name}
          </span>
        </Link>
      ))}
      <Button
        onClick={() => setIsPicking(true)}
        aria-label="Compare with another run"
        className={suggested.length > 0 ? 'rounded-l-none border-l-0' : ''}
      >
        {suggested.length === 0 ? (
          <>
            <GitCompareArrows aria-hidden="true" />
            Compare…
          </>
        ) : (
          'Other…'
        )}
      </Button>
      {isPicking && (
        <RunPicker
          title="Select the reference"
          experiment={run.name}
          suggested={suggested}
          selected={[run.id]}
          onSelect={(id) => {
            setIsPicking(false);
            onChoose([id, run.id]);
          }}
          onClose={() => setIsPicking(false)}
        />
      )}
    </div>
  );
}
