// The command palette: to any page, run or experiment by typing a part of its name.
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { runsQuery } from '../api/queries';
import { Key } from '../components/key';
import { Modal } from '../components/modal';
import { useCommands } from './commands';
import { PaletteItems } from './palette-group';
import { useRunResults } from './run-results';

/** How many runs are asked for; a few of the newest before something is typed. */
const MAX_RUNS = 20;
const MAX_UNFILTERED_RUNS = 5;

/** How long typing has to rest before the server is asked. */
const DEBOUNCE_MS = 150;

interface PaletteProps {
  onClose: () => void;
  onShortcuts: () => void;
}

export default function Palette({ onClose, onShortcuts }: PaletteProps) {
  const [typed, setTyped] = useState('');
  // A dialog that opens gives the focus to the first that may have it, which is what lies around the field.
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const search = useDebounced(typed.trim());
  const answer = useQuery(
    runsQuery({ search: search || undefined, limit: search ? MAX_RUNS : MAX_UNFILTERED_RUNS }),
  );
  const experiments = answer.data?.experiments ?? [];
  const commands = useCommands({ typed: typed.trim(), experiments, onDone: onClose, onShortcuts });
  const groups = [...commands, useRunResults(answer.data?.runs ?? [], onClose)];

  // Enter takes the first of what matches now, however soon it comes after the last letter.
  const [chosen, setChosen] = useState<string>();
  const values = groups.flatMap(({ items: offers }) => offers.map(({ value }) => value));
  const selected = chosen !== undefined && values.includes(chosen) ? chosen : (values[0] ?? '');
  const type = (text: string) => {
    setTyped(text);
    setChosen(undefined);
  };
  return (
    <Modal
      label="Go to"
      onClose={onClose}
      className="mt-[12vh] w-xl max-w-[calc(100vw-2rem)] overflow-hidden"
    >
      {/* What matches is known to the server for runs, and to the groups themselves for the rest. */}
      <Command
        label="Go to"
        shouldFilter={false}
        value={selected}
        onValueChange={setChosen}
        loop
        vimBindings={false}
      >
        <div className="flex items-center gap-3 border-line border-b px-4">
          <Search className="size-4 shrink-0 text-muted" aria-hidden="true" />
          <Command.Input
            ref={field}
            value={typed}
            onValueChange={type}
            placeholder="A page, a run, an experiment, a command"
            className="h-12 w-full bg-transparent outline-none placeholder:text-muted"
          />
          <Key>Esc</Key>
        </div>
        <Command.List label="What matches" className="max-h-[55vh] overflow-y-auto overscroll-contain p-2">
          {groups.map((group) => (
            <PaletteItems key={group.name} {...group} />
          ))}
          <Command.Empty className="px-3 py-8 text-center text-muted">
            {answer.isFetching ? 'Searching' : 'Nothing matches'}
          </Command.Empty>
        </Command.List>
        {answer.isError && (
          <p role="alert" className="border-line border-t px-4 py-2 text-bad text-xs">
            {answer.error.message}
          </p>
        )}
      </Command>
    </Modal>
  );
}

/** A text, as it was when typing rested last. */
function useDebounced(text: string) {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
