// A modal dialog; it is open while it is mounted.
import { Dialog } from '@base-ui/react/dialog';
import clsx from 'clsx';
import type { ReactNode, RefObject } from 'react';

interface ModalProps {
  /** The accessible name. */
  label: string;
  onClose: () => void;
  /** Has the focus at first; by default the first focusable element. */
  initialFocus?: RefObject<HTMLElement | null>;
  className?: string;
  children: ReactNode;
}

export function Modal({ label, onClose, initialFocus, className, children }: ModalProps) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Viewport className="fixed inset-0 z-40 flex items-start justify-center overflow-y-auto p-4 sm:items-center">
          <Dialog.Popup
            aria-label={label}
            initialFocus={initialFocus}
            className={clsx(
              'max-h-full overflow-auto rounded-xl border border-line bg-surface text-text shadow-2xl outline-none',
              className,
            )}
          >
            {children}
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
