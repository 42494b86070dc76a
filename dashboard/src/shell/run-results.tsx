// The runs in the palette.
import { useNavigate } from 'react-router';
import type { RunRow } from '../api/types';
import { CutText } from '../components/cut-text';
import { Time } from '../components/time';
import { Verdict } from '../components/verdict';
import { runUrl } from '../lib/addresses';
import type { PaletteGroup } from './palette-group';

export function useRunResults(runs: RunRow[], onDone: () => void): PaletteGroup {
  const navigate = useNavigate();
  const items = runs.map((run) => ({
    value: `run ${run.id}`,
    icon: null,
    children: <RunResult run={run} />,
    onSelect: () => {
      onDone();
      void navigate(runUrl(run.id));
    },
  }));
  return { name: 'Runs', items: items };
}

function RunResult({ run }: { run: RunRow }) {
  return (
    <>
      <CutText>{run.name}</CutText>
      <span className="font-mono text-muted text-xs">{run.id}</span>
      <span className="ml-auto flex shrink-0 items-center gap-3 text-muted text-xs">
        <Time timestamp={run.timestamp} />
        <Verdict verdict={run.verdict} />
      </span>
    </>
  );
}
