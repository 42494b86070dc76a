// Tabs. The selected one is controlled, since it belongs into the URL.
import { Tabs as Base } from '@base-ui/react/tabs';
import clsx from 'clsx';
import type { ReactNode } from 'react';

export interface Tab<Value extends string> {
  value: Value;
  name: ReactNode;
  /** Rendered while the tab is selected. */
  panel: ReactNode;
}

interface TabsProps<Value extends string> {
  /** The accessible name. */
  label: string;
  value: Value;
  tabs: Tab<Value>[];
  onChange: (value: Value) => void;
  /** Controls at the end of the tab bar. */
  actions?: ReactNode;
  className?: string;
  /** The classes of the panels. */
  panelClassName?: string;
}

export function Tabs<Value extends string>({
  label,
  value,
  tabs,
  onChange,
  actions,
  className,
  panelClassName,
}: TabsProps<Value>) {
  return (
    <Base.Root
      value={value}
      onValueChange={(value) => onChange(value as Value)}
      className={clsx('flex min-h-0 min-w-0 flex-col', className)}
    >
      <div className="flex items-center gap-2 overflow-x-auto border-line border-b">
        <Base.List aria-label={label} className="flex grow items-stretch">
          {tabs.map(({ value, name }) => (
            <Base.Tab
              key={value}
              value={value}
              className="-mb-px flex h-9 items-center gap-1.5 border-transparent border-b-2 px-3 text-muted @max-md:px-2 text-sm whitespace-nowrap hover:text-text data-active:border-accent data-active:font-medium data-active:text-text"
            >
              {name}
            </Base.Tab>
          ))}
        </Base.List>
        {actions}
      </div>
      {tabs.map(({ value, panel }) => (
        <Base.Panel
          key={value}
          value={value}
          className={clsx('focus-visible:-outline-offset-2', panelClassName)}
        >
          {panel}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
