// Changes the name, the tags and the note of a run.
import { useState } from 'react';
import { useUpdateRun } from '../api/mutations';
import { FIELD_FRAME, LabelledField } from '../components/field';
import type { ActionRun } from './action-run';
import { ActionDialog } from './dialog';

const MAX_NAME = 100;
const MAX_NOTE = 4000;

export function LabelDialog({ run, onClose }: { run: ActionRun; onClose: () => void }) {
  const update = useUpdateRun(run.id);
  const [runName, setRunName] = useState(run.runName ?? '');
  const [note, setNote] = useState(run.note ?? '');
  const [tags, setTags] = useState(run.tags.join(', '));
  const save = () =>
    update.mutate(
      // Only what was edited.
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
      <LabelledField label="Name">
        <input
          value={runName}
          maxLength={MAX_NAME}
          onChange={(event) => setRunName(event.target.value)}
          className={FIELD_FRAME}
        />
      </LabelledField>
      <LabelledField label="Tags" hint="Separated by commas">
        <input value={tags} onChange={(event) => setTags(event.target.value)} className={FIELD_FRAME} />
      </LabelledField>
      <LabelledField label="Note">
        <textarea
          value={note}
          rows={4}
          maxLength={MAX_NOTE}
          onChange={(event) => setNote(event.target.value)}
          className="rounded-md border border-line bg-surface px-2 py-1.5 text-text"
        />
      </LabelledField>
    </ActionDialog>
  );
}
