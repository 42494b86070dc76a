// Deletes runs, after saying what that frees and which runs have to stay.

import { useQuery } from '@tanstack/react-query';
import { planDeletion, useDeleteRuns } from '../api/mutations';
import { Skeleton } from '../components/skeleton';
import { Text } from '../components/text';
import { formatBytes, pluralize } from '../lib/format';
import { withoutBackticks } from '../lib/texts';
import { ActionDialog } from './dialog';

interface DeleteRunsDialogProps {
  ids: string[];
  onClose: () => void;
  /** Called with the deleted runs. */
  onDeleted?: (ids: string[]) => void;
}

export function DeleteRunsDialog({ ids, onClose, onDeleted }: DeleteRunsDialogProps) {
  const plan = useQuery({
    queryKey: ['deletion', ids],
    queryFn: () => planDeletion(ids),
    gcTime: 0,
    staleTime: 0,
  });
  const remove = useDeleteRuns();
  const runs = plan.data?.runs ?? [];
  const submit = () =>
    remove.mutate(runs, {
      onSuccess: () => {
        onDeleted?.(runs);
        onClose();
      },
    });
  const title = ids.length === 1 ? `Delete run ${ids[0]}` : `Delete ${pluralize(ids.length, 'run')}`;
  return (
    <ActionDialog
      title={title}
      action={
        runs.length === ids.length || runs.length === 0 ? 'Delete' : `Delete ${pluralize(runs.length, 'run')}`
      }
      isDangerous
      isDisabled={runs.length === 0}
      isPending={remove.isPending}
      error={remove.error ?? plan.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {plan.isPending && <Skeleton label="Checking what would be deleted" className="h-16" />}
      {plan.data && runs.length > 0 && (
        <>
          <p>
            Frees <strong>{formatBytes(plan.data.bytes)}</strong>:{' '}
            {plan.data.files.map(({ kind, count }) => fileCount(kind, count)).join(', ')}. Deleted runs cannot
            be restored.
          </p>
          <p className="text-muted">Baselines, recordings and cached responses stay.</p>
        </>
      )}
      {plan.data && plan.data.kept.length > 0 && (
        <div className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          <p className="font-medium">
            {plan.data.kept.length === ids.length ? 'Cannot be deleted:' : 'These runs stay:'}
          </p>
          <ul className="[overflow-wrap:anywhere]">
            {plan.data.kept.map(({ id, reason }) => (
              <li key={id}>
                <code className="font-mono">{id}</code>: <Text>{withoutBackticks(reason)}</Text>
              </li>
            ))}
          </ul>
        </div>
      )}
      {plan.data?.notes.map((note) => (
        <p key={note} className="text-muted [overflow-wrap:anywhere]">
          <Text>{note}</Text>
        </p>
      ))}
    </ActionDialog>
  );
}

function fileCount(kind: string, count: number): string {
  switch (kind) {
    case 'results':
      return pluralize(count, 'result file');
    case 'journals':
      return pluralize(count, 'unfinished run');
    case 'workspaces':
      return `kept workspaces of ${pluralize(count, 'run')}`;
    default:
      return `${kind}: ${count}`;
  }
}
