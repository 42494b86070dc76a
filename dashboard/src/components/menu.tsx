// A menu of links behind a button.
import { ChevronDown } from 'lucide-react';
import { type FocusEvent, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Button } from './button';

interface MenuProps {
  name: ReactNode;
  /** The links, as list items. */
  children: ReactNode;
}

/** Opens below its button. Esc or losing focus closes it. */
export function Menu({ name, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const leave = (event: FocusEvent<HTMLDivElement>) => {
    if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
  };
  const close = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return;
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles bubbling events of its button and links
    <div className="relative" onBlur={leave} onKeyDown={close}>
      <Button ref={button} aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {name}
        <ChevronDown aria-hidden="true" />
      </Button>
      {isOpen && (
        <ul
          id={id}
          className="absolute right-0 z-20 mt-1 w-max min-w-full rounded-md border border-line bg-surface p-1 shadow-lg"
        >
          {children}
        </ul>
      )}
    </div>
  );
}

/** The classes of a menu link. */
export const menuLink = 'flex items-center gap-3 rounded px-3 py-1.5 hover:bg-sunken focus-visible:bg-sunken';
