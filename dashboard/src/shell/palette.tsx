// The command palette: finds pages, runs, experiments and commands by name.
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { runsQuery } from '../api/queries';
import { Key } from '../components/key';
import { Modal } from '../components/modal';
import { useCommands } from './commands';
import { PaletteItems } from './palette-group';
import { useRunResults } from './run-results';

/** The number of runs listed; for an empty query, the latest few. */
const MAX_RUNS = 20;
const MAX_UNFILTERED_RUNS = 5;

/** The pause in typing after which the server is queried. */
const DEBOUNCE_MS = 150;

export interface PaletteProps {
  onClose: () => void;
  onShortcuts: () => void;
}

export default function Palette({ onClose, onShortcuts }: PaletteProps) {
  const [query, setQuery] = useState('');
  // An opened dialog focuses its first focusable element, which is not the search field.
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const search = useDebounced(query.trim());
  const runs = useQuery(
    runsQuery({ search: search || undefined, limit: search ? MAX_RUNS : MAX_UNFILTERED_RUNS }),
  );
  const experiments = runs.data?.experiments ?? [];
  const commands = useCommands({ query: query.trim(), experiments, onDone: onClose, onShortcuts });
  const groups = [...commands, useRunResults(runs.data?.runs ?? [], onClose)];

  // Enter selects the first current match, even if it follows the last keystroke immediately.
  const [highlighted, setHighlighted] = useState<string>();
  const values = groups.flatMap(({ items }) => items.map(({ value }) => value));
  const selected =
    highlighted !== undefined && values.includes(highlighted) ? highlighted : (values[0] ?? '');
  const onQueryChange = (text: string) => {
    setQuery(text);
    setHighlighted(undefined);
  };
  // The list of `cmdk` is updated after the keystroke, so it may still have the match of the previous one.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    groups
      .flatMap(({ items }) => items)
      .find(({ value }) => value === selected)
      ?.onSelect();
  };
  return (
    <Modal
      label="Go to"
      onClose={onClose}
      className="mt-[12vh] w-xl max-w-[calc(100vw-2rem)] overflow-hidden"
    >
      {/* Runs are filtered by the server, the other groups by `useCommands`. */}
      <Command
        label="Go to"
        shouldFilter={false}
        value={selected}
        onValueChange={setHighlighted}
        loop
        vimBindings={false}
        onKeyDown={onKeyDown}
      >
        <div className="flex items-center gap-3 border-line border-b px-4">
          <Search className="size-4 shrink-0 text-muted" aria-hidden="true" />
          <Command.Input
            ref={field}
            value={query}
            onValueChange={onQueryChange}
            placeholder="Search pages, runs, experiments and commands"
            className="h-12 w-full bg-transparent outline-none placeholder:text-muted"
          />
          <Key>Esc</Key>
        </div>
        <Command.List label="Results" className="max-h-[55vh] overflow-y-auto overscroll-contain p-2">
          {groups.map((group) => (
            <PaletteItems key={group.name} {...group} />
          ))}
          <Command.Empty className="px-3 py-8 text-center text-muted">
            {runs.isFetching ? 'Searching…' : 'No matches'}
          </Command.Empty>
        </Command.List>
        {runs.isError && (
          <p role="alert" className="border-line border-t px-4 py-2 text-bad text-xs">
            {runs.error.message}
          </p>
        )}
      </Command>
    </Modal>
  );
}

/** The text, updated after a pause in typing. */
function useDebounced(text: string) {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
