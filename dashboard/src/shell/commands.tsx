// What the palette offers beside runs: pages, experiments, and small things to do.
import { useQueryClient } from '@tanstack/react-query';
import { ChartLine, GitCompareArrows, Keyboard, Link, List, Moon, Rows3, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { runsQuery } from '../api/queries';
import type { Runs } from '../api/types';
import { Text } from '../components/text';
import { PAGES } from './header';
import type { PaletteGroup } from './palette-group';
import { setTheme, useTheme } from './theme';

interface CommandsProps {
  typed: string;
  experiments: Runs['experiments'];
  onDone: () => void;
  onShortcuts: () => void;
}

interface Action {
  name: string;
  icon: ReactNode;
  run: () => void;
}

/** How many experiments are offered before something is typed. */
const MAX_UNFILTERED_EXPERIMENTS = 2;

/** All that matches what is typed, in groups. */
export function useCommands({ typed, experiments, onDone, onShortcuts }: CommandsProps): PaletteGroup[] {
  const navigate = useNavigate();
  const icons = [<List key="runs" />, <GitCompareArrows key="compare" />, <ChartLine key="trends" />];
  const pages = PAGES.map(({ to, name }, place) => ({
    name,
    icon: icons[place],
    run: () => {
      onDone();
      void navigate(to);
    },
  }));
  const offered = useExperimentActions(
    typed === '' ? experiments.slice(0, MAX_UNFILTERED_EXPERIMENTS) : experiments,
    onDone,
  );
  return [
    matchingGroup('Pages', pages, typed),
    matchingGroup('Experiments', offered, typed),
    matchingGroup('Commands', useGeneralActions(onDone, onShortcuts), typed),
  ];
}

/** Those entries that have all the words that are typed. */
function matchingGroup(group: string, entries: Action[], typed: string): PaletteGroup {
  const words = typed.toLowerCase().split(/\s+/);
  const offers = entries
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .map(({ name, icon, run }) => ({
      value: `${group} ${name}`,
      icon,
      children: (
        <span className="min-w-0 truncate">
          <Text>{name}</Text>
        </span>
      ),
      onSelect: run,
    }));
  return { name: group, items: offers };
}

function useExperimentActions(experiments: Runs['experiments'], onDone: () => void): Action[] {
  const navigate = useNavigate();
  const client = useQueryClient();
  const go = (path: string, query: Record<string, string>) => {
    onDone();
    void navigate(`${path}?${new URLSearchParams(query)}`);
  };
  const compareNewest = async (experiment: string) => {
    const { runs } = await client.fetchQuery(runsQuery({ experiment, limit: 2 }));
    const [newer, older] = runs;
    if (newer && older) go('/compare', { a: older.id, b: newer.id });
  };
  return experiments.flatMap(({ name, runs }) => [
    { name: `Trends of ${name}`, icon: <ChartLine />, run: () => go('/trends', { experiment: name }) },
    { name: `Runs of ${name}`, icon: <Rows3 />, run: () => go('/', { experiment: name }) },
    ...(runs < 2
      ? []
      : [
          {
            name: `Compare the two newest runs of ${name}`,
            icon: <GitCompareArrows />,
            run: () => void compareNewest(name),
          },
        ]),
  ]);
}

function useGeneralActions(onDone: () => void, onShortcuts: () => void): Action[] {
  const other = useTheme() === 'dark' ? 'light' : 'dark';
  const done = (run: () => void) => () => {
    run();
    onDone();
  };
  return [
    {
      name: `Switch to the ${other} theme`,
      icon: other === 'dark' ? <Moon /> : <Sun />,
      run: done(() => setTheme(other)),
    },
    {
      name: 'Copy the link to this page',
      icon: <Link />,
      run: done(() => void navigator.clipboard.writeText(window.location.href)),
    },
    { name: 'Keyboard shortcuts', icon: <Keyboard />, run: onShortcuts },
  ];
}
