// The palette's entries other than runs: pages, experiments and commands.
import { useQueryClient } from '@tanstack/react-query';
import { ChartLine, FlaskConical, GitCompareArrows, Keyboard, Link, List, Moon, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { runsQuery } from '../api/queries';
import type { Runs } from '../api/types';
import { CutText } from '../components/cut-text';
import { comparisonUrl, experimentUrl } from '../lib/addresses';
import { PAGES } from './header';
import type { PaletteGroup } from './palette-group';
import { setTheme, useTheme } from './theme';

interface CommandsProps {
  query: string;
  experiments: Runs['experiments'];
  onDone: () => void;
  onShortcuts: () => void;
}

interface Action {
  name: string;
  icon: ReactNode;
  run: () => void;
}

/** The number of experiments listed for an empty query. */
const MAX_UNFILTERED_EXPERIMENTS = 2;

/** The entries that match the query, in groups. */
export function useCommands({ query, experiments, onDone, onShortcuts }: CommandsProps): PaletteGroup[] {
  const navigate = useNavigate();
  const icons = [<FlaskConical key="experiments" />, <List key="runs" />];
  const pages = PAGES.map(({ to, name }, place) => ({
    name,
    icon: icons[place],
    run: () => {
      onDone();
      void navigate(to);
    },
  }));
  const experimentActions = useExperimentActions(
    query === '' ? experiments.slice(0, MAX_UNFILTERED_EXPERIMENTS) : experiments,
    onDone,
  );
  return [
    matchingGroup('Pages', pages, query),
    matchingGroup('Experiments', experimentActions, query),
    matchingGroup('Commands', useGeneralActions(onDone, onShortcuts), query),
  ];
}

/** The actions whose names contain all words of the query. */
function matchingGroup(group: string, actions: Action[], query: string): PaletteGroup {
  const words = query.toLowerCase().split(/\s+/);
  const items = actions
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .map(({ name, icon, run }) => ({
      value: `${group} ${name}`,
      icon,
      children: <CutText>{name}</CutText>,
      onSelect: run,
    }));
  return { name: group, items: items };
}

function useExperimentActions(experiments: Runs['experiments'], onDone: () => void): Action[] {
  const navigate = useNavigate();
  const client = useQueryClient();
  const go = (to: string) => {
    onDone();
    void navigate(to);
  };
  const compareLatest = async (experiment: string) => {
    const { runs } = await client.fetchQuery(runsQuery({ experiment, limit: 2 }));
    const [newer, older] = runs;
    if (newer && older) go(comparisonUrl(newer.id, [older.id]));
  };
  return experiments.flatMap(({ name, runs }) => [
    { name: `Experiment: ${name}`, icon: <FlaskConical />, run: () => go(experimentUrl(name)) },
    { name: `Trends: ${name}`, icon: <ChartLine />, run: () => go(experimentUrl(name, 'trends')) },
    ...(runs < 2
      ? []
      : [
          {
            name: `Compare the latest two runs of ${name}`,
            icon: <GitCompareArrows />,
            run: () => void compareLatest(name),
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
      name: `Switch to ${other} theme`,
      icon: other === 'dark' ? <Moon /> : <Sun />,
      run: done(() => setTheme(other)),
    },
    {
      name: 'Copy link to this page',
      icon: <Link />,
      run: done(() => void navigator.clipboard.writeText(window.location.href)),
    },
    { name: 'Keyboard shortcuts', icon: <Keyboard />, run: onShortcuts },
  ];
}
