// Changes the name, the tags and the note of a run.
import { useId, useState } from 'react';
import { useUpdateRun } from '../api/mutations';
import { FIELD_FRAME } from '../components/field';
import type { ActionRun } from './action-run';
import { ActionDialog } from './dialog';

const MAX_NAME = 100;
const MAX_NOTE = 4000;

export function LabelDialog({ run, onClose }: { run: ActionRun; onClose: () => void }) {
  const update = useUpdateRun(run.id);
  const [runName, setRunName] = useState(run.runName ?? '');
  const [note, setNote] = useState(run.note ?? '');
  const [tags, setTags] = useState(run.tags.join(', '));
  const id = useId();
  const save = () =>
    update.mutate(
      // Only what was edited: a list of runs does not have the note.
      {
        ...(runName !== (run.runName ?? '') && { runName }),
        ...(note !== (run.note ?? '') && { note }),
        ...(tags !== run.tags.join(', ') && { tags: tags.split(',').map((tag) => tag.trim()) }),
      },
      { onSuccess: onClose },
    );
  const isUnchanged =
    runName === (run.runName ?? '') && note === (run.note ?? '') && tags === run.tags.join(', ');
  return (
    <ActionDialog
      title="Name, tags and note"
      action="Save"
      isDisabled={isUnchanged}
      isPending={update.isPending}
      error={update.error}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="flex flex-col gap-1">
        <label htmlFor={`${id}-name`} className="font-medium">
          Name
        </label>
        <input
          id={`${id}-name`}
          value={runName}
          maxLength={MAX_NAME}
          onChange={(event) => setRunName(event.target.value)}
          className={FIELD_FRAME}
        />
      </div>
      <div className="flex flex-col gap-1">
        <label htmlFor={`${id}-tags`} className="font-medium">
          Tags
        </label>
        <input
          id={`${id}-tags`}
          value={tags}
          aria-describedby={`${id}-tags-help`}
          onChange={(event) => setTags(event.target.value)}
          className={FIELD_FRAME}
        />
        <p id={`${id}-tags-help`} className="text-muted text-xs">
          Separated by commas
        </p>
      </div>
      <div className="flex flex-col gap-1">
        <label htmlFor={`${id}-note`} className="font-medium">
          Note
        </label>
        <textarea
          id={`${id}-note`}
          value={note}
          rows={4}
          maxLength={MAX_NOTE}
          onChange={(event) => setNote(event.target.value)}
          className="rounded-md border border-line bg-surface px-2 py-1.5 text-text"
        />
      </div>
    </ActionDialog>
  );
}
