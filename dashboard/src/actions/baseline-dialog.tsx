// Saves a run as the baseline of its experiment, after a warning if the run failed or was replayed.
import { useState } from 'react';
import { ApiError } from '../api/client';
import { useSaveBaseline } from '../api/mutations';
import { Button } from '../components/button';
import { Modal } from '../components/modal';
import { Text } from '../components/text';
import type { ActionRun } from './action-run';
import { ActionDialog } from './dialog';

/** What the user has confirmed. */
const CONSENTS = {
  failed: { allowFailed: true },
  replayed: { allowReplayed: true },
};

type Consent = keyof typeof CONSENTS;

const isConsent = (code: string | undefined): code is Consent => code !== undefined && code in CONSENTS;

export function BaselineDialog({ run, onClose }: { run: ActionRun; onClose: () => void }) {
  const save = useSaveBaseline(run.id);
  const [consents, setConsents] = useState({});
  const code = save.error instanceof ApiError ? save.error.code : undefined;
  const warning = isConsent(code) ? code : undefined;
  if (save.isSuccess) {
    const { path, replaced, warnings, advice } = save.data;
    return (
      <Modal label="Baseline saved" onClose={onClose} className="w-full max-w-lg">
        <div className="flex flex-col gap-3 p-5 [overflow-wrap:anywhere]">
          <h2 className="font-semibold text-lg">Baseline saved</h2>
          <p>
            Later runs are compared with this one. Saved in <code className="font-mono">{path}</code>
            {replaced != null && replaced !== run.id && (
              <>
                {' '}
                in place of run <code className="font-mono">{replaced}</code>
              </>
            )}
            .
          </p>
          {warnings.length > 0 && (
            <ul className="list-disc rounded-md bg-warn-soft py-2 pr-3 pl-7 text-warn">
              {warnings.map((warning) => (
                <li key={warning}>
                  <Text>{warning}</Text>
                </li>
              ))}
            </ul>
          )}
          {advice != null && (
            <p className="text-muted">
              <Text>{advice}</Text>
            </p>
          )}
          <Button look="main" onClick={onClose} className="self-end">
            Close
          </Button>
        </div>
      </Modal>
    );
  }
  const submit = () => {
    const allowed = { ...consents, ...(warning && CONSENTS[warning]) };
    setConsents(allowed);
    save.mutate(allowed);
  };
  return (
    <ActionDialog
      title="Set as baseline"
      action={warning === undefined ? 'Set as baseline' : 'Set anyway'}
      isDangerous={warning !== undefined}
      isPending={save.isPending}
      error={save.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        Later runs of{' '}
        <strong className="[overflow-wrap:anywhere]">
          <Text>{run.name}</Text>
        </strong>{' '}
        are compared with this run. It replaces the saved baseline, if there is one.
      </p>
    </ActionDialog>
  );
}
