// A dialog that asks before a change, and says why the change failed.
import type { FormEvent, ReactNode } from 'react';
import { Button } from '../components/button';
import { Modal } from '../components/modal';

interface ActionDialogProps {
  title: string;
  /** The button that makes the change. */
  action: string;
  isDangerous?: boolean;
  /** Whether the change cannot be made, or is being made. */
  isDisabled?: boolean;
  isPending?: boolean;
  error?: Error | null;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

export function ActionDialog({
  title,
  action,
  isDangerous,
  isDisabled,
  isPending,
  error,
  onSubmit,
  onClose,
  children,
}: ActionDialogProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isDisabled && !isPending) onSubmit();
  };
  return (
    <Modal label={title} onClose={onClose} className="w-full max-w-lg">
      <form onSubmit={submit} className="flex flex-col gap-4 p-5">
        <h2 className="font-semibold text-lg">{title}</h2>
        {children}
        {error && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad [overflow-wrap:anywhere]">
            {error.message}
          </p>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="main"
            disabled={isDisabled || isPending}
            className={isDangerous ? 'bg-bad! text-surface!' : undefined}
          >
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
