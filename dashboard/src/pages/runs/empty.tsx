// The empty states of the runs page.
import { Button } from '../../components/button';
import { CommandSnippet, EmptyState } from '../../components/empty-state';

/** No run has finished yet. */
export function NoRuns({ isRunning }: { isRunning: boolean }) {
  if (isRunning) {
    return (
      <EmptyState title="The first run is in progress">
        <p>Its results appear here when it finishes.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No runs yet">
      <p>No experiments yet? Create one:</p>
      <CommandSnippet>cargo cobalt init</CommandSnippet>
      <p>Run it; results appear here automatically:</p>
      <CommandSnippet>cargo cobalt run</CommandSnippet>
    </EmptyState>
  );
}

export function NoMatches({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState title="No runs match these filters">
      <Button onClick={onClear}>Clear all filters</Button>
    </EmptyState>
  );
}
