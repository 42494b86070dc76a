// What there is to do where there are no runs to see.
import { Button } from '../../components/button';
import { CommandSnippet, EmptyState } from '../../components/empty-state';

/** No run has ended yet. */
export function NoRuns({ isRunning }: { isRunning: boolean }) {
  if (isRunning) {
    return (
      <EmptyState title="The first run is going on">
        <p>Its results are listed here as soon as it has ended.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="There are no runs yet">
      <p>Write a first experiment, if there is none:</p>
      <CommandSnippet>cargo cobalt init</CommandSnippet>
      <p>Then run it; its results appear here by themselves:</p>
      <CommandSnippet>cargo cobalt run</CommandSnippet>
    </EmptyState>
  );
}

/** The filters leave none. */
export function NoMatches({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState title="No run matches">
      <p>There are runs, but none that is as the filters say.</p>
      <Button onClick={onClear}>Clear all filters</Button>
    </EmptyState>
  );
}
