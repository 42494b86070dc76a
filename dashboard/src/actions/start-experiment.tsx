// Starts a run of an experiment, or of all.
import { useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useId, useState } from 'react';
import { useStartJob } from '../api/mutations';
import { runsQuery } from '../api/queries';
import { useIsRemote, useReadOnlyHint } from '../api/session';
import { Button } from '../components/button';
import { FIELD_FRAME, LabelledField } from '../components/field';
import { ActionDialog } from './dialog';

interface StartExperimentProps {
  /** The experiment; chosen by the user by default. */
  name?: string;
}

/** The button; without permission it is disabled and says how to get it. */
export function StartExperiment({ name }: StartExperimentProps) {
  const [isOpen, setOpen] = useState(false);
  const hint = useReadOnlyHint();
  if (useIsRemote()) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)} disabled={hint !== undefined} title={hint}>
        <Play aria-hidden="true" />
        {name === undefined ? 'Run…' : 'Run again…'}
      </Button>
      {isOpen && <StartDialog name={name} onClose={() => setOpen(false)} />}
    </>
  );
}

function StartDialog({ name, onClose }: StartExperimentProps & { onClose: () => void }) {
  const start = useStartJob();
  const [experiment, setExperiment] = useState(name ?? '');
  const [budget, setBudget] = useState('');
  const known = useQuery({ ...runsQuery({ limit: 0 }), enabled: name === undefined });
  const names = useId();
  const submit = () =>
    start.mutate(
      {
        kind: 'run',
        ...(experiment.trim() !== '' && { experiment: experiment.trim() }),
        ...(budget !== '' && { maxCost: Number(budget) }),
      },
      { onSuccess: onClose },
    );
  return (
    <ActionDialog
      title="Run an experiment"
      action="Run"
      isPending={start.isPending}
      error={start.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="text-muted">
        Builds the project and runs the experiment with <code className="font-mono">cargo cobalt run</code>,
        in the folder of the server. Its output is shown below the page.
      </p>
      <LabelledField label="Experiment">
        <input
          value={experiment}
          placeholder="All experiments"
          list={names}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setExperiment(event.target.value)}
          className={FIELD_FRAME}
        />
      </LabelledField>
      <datalist id={names}>
        {known.data?.experiments.map((experiment) => (
          <option key={experiment.name} value={experiment.name} />
        ))}
      </datalist>
      <LabelledField
        label="Budget in USD (optional)"
        hint="Agents, judges and simulated users together. When it is spent, the run stops and can be resumed."
      >
        <input
          type="number"
          min="0.000001"
          step="any"
          value={budget}
          onChange={(event) => setBudget(event.target.value)}
          className={FIELD_FRAME}
        />
      </LabelledField>
    </ActionDialog>
  );
}
