// The runs that the palette offers.
import { useNavigate } from 'react-router';
import type { RunRow } from '../api/types';
import { Time } from '../components/time';
import { Verdict } from '../components/verdict';
import { Group, Offer } from './offer';

export function FoundRuns({ runs, onDone }: { runs: RunRow[]; onDone: () => void }) {
  const navigate = useNavigate();
  if (runs.length === 0) return null;
  const open = (id: string) => {
    onDone();
    void navigate(`/runs/${encodeURIComponent(id)}`);
  };
  return (
    <Group name="Runs">
      {runs.map((run) => (
        <Offer key={run.id} value={`run ${run.id}`} icon={null} onSelect={() => open(run.id)}>
          <span className="min-w-0 truncate">{run.name}</span>
          <span className="font-mono text-muted text-xs">{run.id}</span>
          <span className="ml-auto flex shrink-0 items-center gap-3 text-muted text-xs">
            <Time of={run.timestamp} />
            <Verdict of={run.verdict} />
          </span>
        </Offer>
      ))}
    </Group>
  );
}
