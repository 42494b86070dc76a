// What stays at the bottom of the window, below the content of the page: it never covers the end of it.
import { type ReactNode, useLayoutEffect, useState } from 'react';
import { createPortal } from 'react-dom';

const ID = 'dock';

/** The place of the docked parts; `children` are at its end. */
export function DockArea({ children }: { children: ReactNode }) {
  return (
    <div className="sticky bottom-0 z-30 flex flex-col">
      <div id={ID} />
      {children}
    </div>
  );
}

/** Shows a part of the page in the dock; in its place if there is none. */
export function Docked({ children }: { children: ReactNode }) {
  const [area, setArea] = useState<HTMLElement | null>();
  useLayoutEffect(() => setArea(document.getElementById(ID)), []);
  if (area === undefined) return null;
  return area === null ? children : createPortal(children, area);
}
