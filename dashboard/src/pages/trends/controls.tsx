// The controls that select the runs to draw.
import type { Runs } from '../../api/types';
import { SelectField } from '../../components/field';
import { SegmentedControl } from '../../components/segmented-control';
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
  return (
    <div className="grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <SelectField
        label="Experiment"
        value={experiment}
        onChange={(value) => set({ experiment: value, evaluator: '', hide: '' })}
        className="sm:max-w-72 max-sm:col-span-2"
      >
        {known.experiments.every(({ name }) => name !== experiment) && (
          <option value={experiment}>{experiment}</option>
        )}
        {known.experiments.map(({ name, runs }) => (
          <option key={name} value={name}>
            {name} ({runs})
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Evaluator"
        className="sm:max-w-56"
        value={evaluator}
        onChange={(value) => set({ evaluator: value })}
      >
        <option value="">All evaluators</option>
        {evaluators.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField label="Tag" className="sm:max-w-56" value={tag} onChange={(value) => set({ tag: value })}>
        <option value="">Any tag</option>
        {known.tags.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField label="Time range" value={range} onChange={(value) => set({ range: value })}>
        {RANGES.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField label="Number of runs" value={runs} onChange={(value) => set({ runs: value })}>
        {LIMITS.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </SelectField>
      <SegmentedControl
        label="X axis"
        value={axis}
        options={AXES}
        onChange={(value) => set({ axis: value === 'runs' ? '' : value })}
      />
    </div>
  );
}
