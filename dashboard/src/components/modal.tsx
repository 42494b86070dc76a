// A dialog over the page: open for as long as it is drawn.
import clsx from 'clsx';
import { type ReactNode, useEffect, useRef } from 'react';

interface ModalProps {
  /** Its name, for those who do not see it. */
  label: string;
  onClose: () => void;
  className?: string;
  children: ReactNode;
}

export function Modal({ label, onClose, className, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        // What lies behind belongs to the dialog itself, what is in it does not.
        if (event.target === event.currentTarget) onClose();
      }}
      className={clsx(
        'm-auto rounded-xl border border-line bg-surface p-0 text-text shadow-2xl backdrop:bg-black/40',
        className,
      )}
    >
      {children}
    </dialog>
  );
}
