// The controls that select the runs to draw.

import type { Runs } from '../../../api/types';
import { SegmentedControl } from '../../../components/segmented-control';
import { Select } from '../../../components/select';
import { escapeHidden } from '../../../lib/texts';
import { LIMITS, RANGES, type TrendsParameters } from './parameters';

interface ControlsProps {
  /** The tags of all runs. */
  tags: Runs['tags'];
  evaluators: string[];
  parameters: TrendsParameters;
}

const AXES = [
  { value: 'runs', name: 'By run' },
  { value: 'time', name: 'By time' },
] as const;

export function Controls({ tags, evaluators, parameters }: ControlsProps) {
  const { evaluator, tag, range, runs, axis, set } = parameters;
  return (
    <div className="grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <Select
        label="Evaluator"
        value={evaluator}
        options={[
          { value: '', name: 'All evaluators' },
          ...evaluators.map((name) => ({ value: name, name: escapeHidden(name) })),
        ]}
        onChange={(value) => set({ evaluator: value })}
        className="sm:max-w-56"
      />
      <Select
        label="Tag"
        value={tag}
        options={[
          { value: '', name: 'Any tag' },
          ...tags.map(({ name }) => ({ value: name, name: escapeHidden(name) })),
        ]}
        onChange={(value) => set({ tag: value })}
        className="sm:max-w-56"
      />
      <Select<string>
        label="Time range"
        value={range}
        options={RANGES}
        onChange={(value) => set({ range: value })}
      />
      <Select<string>
        label="Number of runs"
        value={runs}
        options={LIMITS}
        onChange={(value) => set({ runs: value })}
      />
      <SegmentedControl
        label="X axis"
        value={axis}
        options={AXES}
        onChange={(value) => set({ axis: value === 'runs' ? '' : value })}
      />
    </div>
  );
}
