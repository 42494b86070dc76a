// The controls that select the runs to draw.

import type { Runs } from '../../api/types';
import { SegmentedControl } from '../../components/segmented-control';
import { Select } from '../../components/select';
import { escapeHidden } from '../../lib/texts';
import { LIMITS, RANGES, type TrendsParameters } from './parameters';

interface ControlsProps {
  known: Runs;
  experiment: string;
  evaluators: string[];
  parameters: TrendsParameters;
}

const AXES = [
  { value: 'runs', name: 'By run' },
  { value: 'time', name: 'By time' },
] as const;

export function Controls({ known, experiment, evaluators, parameters }: ControlsProps) {
  const { evaluator, tag, range, runs, axis, set } = parameters;
  const isKnown = known.experiments.some(({ name }) => name === experiment);
  return (
    <div className="grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <Select
        label="Experiment"
        value={experiment}
        options={[
          ...(isKnown ? [] : [{ value: experiment, name: escapeHidden(experiment) }]),
          ...known.experiments.map(({ name, runs }) => ({
            value: name,
            name: `${escapeHidden(name)} (${runs})`,
          })),
        ]}
        onChange={(value) => set({ experiment: value, evaluator: '', hide: '' })}
        className="sm:max-w-72 max-sm:col-span-2"
      />
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
          ...known.tags.map(({ name }) => ({ value: name, name: escapeHidden(name) })),
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
