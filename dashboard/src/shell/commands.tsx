// What the palette offers beside runs: pages, experiments, and small things to do.
import { useQueryClient } from '@tanstack/react-query';
import { ChartLine, GitCompareArrows, Keyboard, Link, List, Moon, Rows3, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { runsQuery } from '../api/queries';
import type { Runs } from '../api/types';
import { Text } from '../components/text';
import { PAGES } from './header';
import type { Group } from './offer';
import { choose, useTheme } from './theme';

interface CommandsProps {
  typed: string;
  experiments: Runs['experiments'];
  onDone: () => void;
  onShortcuts: () => void;
}

interface Entry {
  name: string;
  icon: ReactNode;
  act: () => void;
}

/** How many experiments are offered before something is typed. */
const UNASKED = 2;

/** All that matches what is typed, in groups. */
export function useCommands({ typed, experiments, onDone, onShortcuts }: CommandsProps): Group[] {
  const navigate = useNavigate();
  const icons = [<List key="runs" />, <GitCompareArrows key="compare" />, <ChartLine key="trends" />];
  const pages = PAGES.map(({ to, name }, place) => ({
    name,
    icon: icons[place],
    act: () => {
      onDone();
      void navigate(to);
    },
  }));
  const offered = useExperiments(typed === '' ? experiments.slice(0, UNASKED) : experiments, onDone);
  return [
    matching('Pages', pages, typed),
    matching('Experiments', offered, typed),
    matching('Commands', useSmallThings(onDone, onShortcuts), typed),
  ];
}

/** Those entries that have all the words that are typed. */
function matching(group: string, entries: Entry[], typed: string): Group {
  const words = typed.toLowerCase().split(/\s+/);
  const offers = entries
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .map(({ name, icon, act }) => ({
      value: `${group} ${name}`,
      icon,
      children: (
        <span className="min-w-0 truncate">
          <Text>{name}</Text>
        </span>
      ),
      act,
    }));
  return { name: group, offers };
}

function useExperiments(experiments: Runs['experiments'], onDone: () => void): Entry[] {
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
    { name: `Trends of ${name}`, icon: <ChartLine />, act: () => go('/trends', { experiment: name }) },
    { name: `Runs of ${name}`, icon: <Rows3 />, act: () => go('/', { experiment: name }) },
    ...(runs < 2
      ? []
      : [
          {
            name: `Compare the two newest runs of ${name}`,
            icon: <GitCompareArrows />,
            act: () => void compareNewest(name),
          },
        ]),
  ]);
}

function useSmallThings(onDone: () => void, onShortcuts: () => void): Entry[] {
  const other = useTheme() === 'dark' ? 'light' : 'dark';
  const done = (act: () => void) => () => {
    act();
    onDone();
  };
  return [
    {
      name: `Switch to the ${other} theme`,
      icon: other === 'dark' ? <Moon /> : <Sun />,
      act: done(() => choose(other)),
    },
    {
      name: 'Copy the link to this page',
      icon: <Link />,
      act: done(() => void navigator.clipboard.writeText(window.location.href)),
    },
    { name: 'Keyboard shortcuts', icon: <Keyboard />, act: onShortcuts },
  ];
}
