// What the palette offers beside runs: pages, experiments, and small things to do.
import { useQueryClient } from '@tanstack/react-query';
import { ChartLine, GitCompareArrows, Keyboard, Link, List, Moon, Rows3, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { runsQuery } from '../api/queries';
import type { Runs } from '../api/types';
import { PAGES } from './header';
import { Group, Offer } from './offer';
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

export function Commands({ typed, experiments, onDone, onShortcuts }: CommandsProps) {
  const navigate = useNavigate();
  const offered = useExperiments(typed === '' ? experiments.slice(0, UNASKED) : experiments, onDone);
  const go = (to: string) => () => {
    onDone();
    void navigate(to);
  };
  const icons = [<List key="runs" />, <GitCompareArrows key="compare" />, <ChartLine key="trends" />];
  const pages = PAGES.map(({ to, name }, place) => ({ name, icon: icons[place], act: go(to) }));
  return (
    <>
      <Entries name="Pages" typed={typed} entries={pages} />
      <Entries name="Experiments" typed={typed} entries={offered} />
      <Entries name="Commands" typed={typed} entries={useSmallThings(onDone, onShortcuts)} />
    </>
  );
}

/** Those entries that have all the words that are typed. */
function Entries({ name, typed, entries }: { name: string; typed: string; entries: Entry[] }) {
  const words = typed.toLowerCase().split(/\s+/);
  const matching = entries.filter((entry) => words.every((word) => entry.name.toLowerCase().includes(word)));
  if (matching.length === 0) return null;
  return (
    <Group name={name}>
      {matching.map((entry) => (
        <Offer key={entry.name} value={`${name} ${entry.name}`} icon={entry.icon} onSelect={entry.act}>
          <span className="min-w-0 truncate">{entry.name}</span>
        </Offer>
      ))}
    </Group>
  );
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
