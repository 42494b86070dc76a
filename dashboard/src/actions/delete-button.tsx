// Deletes the selected runs of a list.
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useIsRemote, useReadOnlyHint } from '../api/session';
import { Button } from '../components/button';
import { DeleteRunsDialog } from './delete-runs-dialog';

interface DeleteButtonProps {
  ids: string[];
  onDeleted?: (ids: string[]) => void;
}

export function DeleteButton({ ids, onDeleted }: DeleteButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const hint = useReadOnlyHint();
  if (useIsRemote()) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)} disabled={hint !== undefined || ids.length === 0} title={hint}>
        <Trash2 aria-hidden="true" />
        Delete
      </Button>
      {isOpen && <DeleteRunsDialog ids={ids} onClose={() => setOpen(false)} onDeleted={onDeleted} />}
    </>
  );
}
