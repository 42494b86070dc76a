// The menu of a run: baseline, labels, running items again, deleting.
import { Flag, Pencil, Play, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useStartJob } from '../api/mutations';
import { useIsRemote, useReadOnlyHint } from '../api/session';
import type { StartJob } from '../api/types';
import { Menu, MenuAction, MenuSeparator } from '../components/menu';
import { pluralize } from '../lib/format';
import type { ActionRun } from './action-run';
import { BaselineDialog } from './baseline-dialog';
import { DeleteRunsDialog } from './delete-runs-dialog';
import { ActionDialog } from './dialog';
import { LabelDialog } from './label-dialog';

interface RunActionsProps {
  run: ActionRun;
  onDeleted?: () => void;
}

type Dialog = 'baseline' | 'labels' | 'delete' | StartJob['kind'];

export function RunActions({ run, onDeleted }: RunActionsProps) {
  const [dialog, setDialog] = useState<Dialog>();
  const hint = useReadOnlyHint();
  const isRemote = useIsRemote();
  const close = () => setDialog(undefined);
  const isReadOnly = hint !== undefined;
  const isFinished = run.state === 'finished';
  const hasFailed = run.failed > 0;
  if (isRemote) return null;
  return (
    <>
      <Menu name="Actions">
        {hint !== undefined && (
          <p className="max-w-64 px-3 py-1.5 text-muted text-xs whitespace-normal">{hint}</p>
        )}
        <MenuAction
          isDisabled={isReadOnly || !isFinished || run.isPartial || run.isBaseline}
          onClick={() => setDialog('baseline')}
        >
          <Flag aria-hidden="true" />
          {run.isBaseline ? 'Is the baseline' : 'Set as baseline…'}
        </MenuAction>
        <MenuAction isDisabled={isReadOnly || !isFinished} onClick={() => setDialog('labels')}>
          <Pencil aria-hidden="true" />
          Name, tags and note…
        </MenuAction>
        <MenuSeparator />
        {isFinished ? (
          <MenuAction
            isDisabled={isReadOnly || !hasFailed || run.isReplaced}
            onClick={() => setDialog('rerunFailed')}
          >
            <RotateCw aria-hidden="true" />
            {run.isReplaced ? 'Rerun failed items (newest run only)' : 'Rerun failed items…'}
          </MenuAction>
        ) : (
          <MenuAction isDisabled={isReadOnly || run.state === 'running'} onClick={() => setDialog('resume')}>
            <Play aria-hidden="true" />
            Resume…
          </MenuAction>
        )}
        <MenuSeparator />
        <MenuAction
          isDangerous
          isDisabled={isReadOnly || run.state === 'running'}
          onClick={() => setDialog('delete')}
        >
          <Trash2 aria-hidden="true" />
          Delete…
        </MenuAction>
      </Menu>
      {dialog === 'baseline' && <BaselineDialog run={run} onClose={close} />}
      {dialog === 'labels' && <LabelDialog run={run} onClose={close} />}
      {(dialog === 'resume' || dialog === 'rerunFailed') && (
        <JobDialog kind={dialog} run={run} onClose={close} />
      )}
      {dialog === 'delete' && <DeleteRunsDialog ids={[run.id]} onClose={close} onDeleted={onDeleted} />}
    </>
  );
}

interface JobDialogProps {
  kind: 'resume' | 'rerunFailed';
  run: ActionRun;
  onClose: () => void;
}

function JobDialog({ kind, run, onClose }: JobDialogProps) {
  const start = useStartJob();
  const submit = () => start.mutate({ kind, run: run.id }, { onSuccess: onClose });
  return (
    <ActionDialog
      title={kind === 'resume' ? 'Resume the run' : 'Rerun failed items'}
      action={kind === 'resume' ? 'Resume' : 'Rerun'}
      isPending={start.isPending}
      error={start.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        {kind === 'resume'
          ? 'Runs the items that have no result yet. Models are called, which may cost money.'
          : `Runs ${pluralize(run.failed, 'failed item')} again: those below a pass mark or in error. Models are called, which may cost money.`}
      </p>
    </ActionDialog>
  );
}
