// A modal dialog; it is open while it is mounted.
import clsx from 'clsx';
import { type ReactNode, useEffect, useRef } from 'react';

interface ModalProps {
  /** The accessible name. */
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
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog automatically
    <dialog
      ref={dialog}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        // A click on the backdrop targets the dialog itself.
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
