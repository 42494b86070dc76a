// A tooltip, shown on hover and focus.
import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';

/** `children` must be one focusable element. */
export function Tooltip({ content, children }: { content: ReactNode; children: ReactElement }) {
  return (
    <Base.Root>
      <Base.Trigger delay={150} render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} collisionPadding={8} className="z-50">
          <Base.Popup
            role="tooltip"
            className="max-w-80 rounded-md border border-line bg-surface px-3 py-2 text-text text-xs shadow-lg"
          >
            {content}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
