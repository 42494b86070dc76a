// Selects and orders the columns of the table.
import { ArrowDown, ArrowUp, Columns3 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../components/button';
import { CutText } from '../../../components/cut-text';
import { FIELD_FRAME } from '../../../components/field';
import { Popover } from '../../../components/popover';
import { escapeHidden } from '../../../lib/texts';
import type { ItemColumn } from './columns';
import { moveColumn, NAME_COLUMN } from './layout';

interface ColumnPickerProps {
  columns: ItemColumn[];
  /** The shown columns in their order. */
  shown: string[];
  onChange: (shown: string[]) => void;
  /** Restores the usual columns and widths. */
  onReset: () => void;
}

/** From this number on, there is a field that searches the columns. */
const MIN_SEARCHED = 12;

export function ColumnPicker({ columns, shown, onChange, onReset }: ColumnPickerProps) {
  return (
    <Popover
      label="Columns"
      trigger={
        <Button>
          <Columns3 aria-hidden="true" />
          Columns
        </Button>
      }
    >
      <ColumnList columns={columns} shown={shown} onChange={onChange} onReset={onReset} />
    </Popover>
  );
}

function ColumnList({ columns, shown, onChange, onReset }: ColumnPickerProps) {
  const [searched, setSearched] = useState('');
  const byId = new Map(columns.map((column) => [column.id ?? '', column]));
  const ids = [...shown, ...[...byId.keys()].filter((id) => !shown.includes(id))];
  const labelOf = (id: string) => byId.get(id)?.meta?.label ?? id;
  const found = ids.filter((id) => labelOf(id).toLowerCase().includes(searched.toLowerCase()));
  return (
    <div className="flex w-72 max-w-full flex-col gap-2">
      {ids.length >= MIN_SEARCHED && (
        <input
          type="text"
          aria-label="Find a column"
          placeholder="Find a column"
          value={searched}
          onChange={(event) => setSearched(event.target.value)}
          className={`${FIELD_FRAME} w-full`}
        />
      )}
      <ul aria-label="Columns" className="max-h-[50dvh] overflow-y-auto">
        {found.map((id) => {
          const place = shown.indexOf(id);
          return (
            <li key={id} className="flex h-8 items-center gap-1">
              <label className="flex min-w-0 grow items-center gap-2">
                <input
                  type="checkbox"
                  checked={place >= 0}
                  disabled={id === NAME_COLUMN}
                  onChange={() =>
                    onChange(place >= 0 ? shown.filter((other) => other !== id) : [...shown, id])
                  }
                  className="size-4 shrink-0 accent-(--accent)"
                />
                <CutText>{labelOf(id)}</CutText>
              </label>
              {place >= 0 && (
                <Arrows
                  label={escapeHidden(labelOf(id))}
                  before={shown[place - 1]}
                  after={shown[place + 1]}
                  onMove={(target) => onChange(moveColumn(shown, id, target))}
                />
              )}
            </li>
          );
        })}
      </ul>
      <Button onClick={onReset}>Reset columns</Button>
    </div>
  );
}

interface ArrowsProps {
  label: string;
  before: string | undefined;
  after: string | undefined;
  onMove: (target: string) => void;
}

function Arrows({ label, before, after, onMove }: ArrowsProps) {
  return (
    <>
      <IconButton
        label={`Move ${label} to the left`}
        className="size-7"
        disabled={before === undefined}
        onClick={() => before !== undefined && onMove(before)}
      >
        <ArrowUp />
      </IconButton>
      <IconButton
        label={`Move ${label} to the right`}
        className="size-7"
        disabled={after === undefined}
        onClick={() => after !== undefined && onMove(after)}
      >
        <ArrowDown />
      </IconButton>
    </>
  );
}
