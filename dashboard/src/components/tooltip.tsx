// A tooltip, shown on hover and focus.
import { Tooltip as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

/** `children` must be one focusable element. */
export function Tooltip({ content, children }: { content: ReactNode; children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={150}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            sideOffset={6}
            collisionPadding={8}
            className="z-40 max-w-80 rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-lg"
          >
            {content}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
