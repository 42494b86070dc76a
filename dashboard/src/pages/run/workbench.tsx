// The items table, and the open item beside it. In a narrow window the item takes the place of the table.
import clsx from 'clsx';
import type { ReactNode } from 'react';
import { Group, Panel, Separator } from 'react-resizable-panels';
import { useIsWide } from '../../lib/use-media-query';

interface WorkbenchProps {
  table: ReactNode;
  /** Undefined if no item is open. */
  pane: ReactNode | undefined;
}

const STORED_WIDTH = 'pane-width';

export function Workbench({ table, pane }: WorkbenchProps) {
  const isWide = useIsWide();
  if (!isWide) {
    return (
      <>
        {/* Stays mounted: it keeps its place while an item is shown. */}
        <div className={clsx('min-h-0 grow flex-col', pane === undefined ? 'flex' : 'hidden')}>{table}</div>
        {pane !== undefined && <div className="min-h-0 grow">{pane}</div>}
      </>
    );
  }
  return (
    <Group
      orientation="horizontal"
      className="min-h-0 grow"
      disableCursor
      onLayoutChanged={({ pane }) => {
        if (pane !== undefined) localStorage.setItem(STORED_WIDTH, String(Math.round(pane)));
      }}
    >
      <Panel id="table" minSize="20rem" className="flex min-h-0 flex-col">
        {table}
      </Panel>
      {pane !== undefined && (
        <>
          <Separator
            aria-label="Width of the item"
            className="w-1.5 shrink-0 cursor-col-resize bg-line hover:bg-accent focus-visible:bg-accent data-[separator=active]:bg-accent"
          />
          <Panel id="pane" defaultSize={`${storedWidth()}%`} minSize="22rem">
            {pane}
          </Panel>
        </>
      )}
    </Group>
  );
}

const DEFAULT_WIDTH = 50;

/** The share of the window that the pane had last, in percent. */
function storedWidth(): number {
  const width = Number(localStorage.getItem(STORED_WIDTH));
  return width >= 20 && width <= 80 ? width : DEFAULT_WIDTH;
}
