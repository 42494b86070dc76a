// What there is to do where there are no runs to see.
import { Button } from '../../components/button';
import { Command, Empty } from '../../components/empty';

/** No run has ended yet. */
export function NoRuns({ isRunning }: { isRunning: boolean }) {
  if (isRunning) {
    return (
      <Empty title="The first run is going on">
        <p>Its results are listed here as soon as it has ended.</p>
      </Empty>
    );
  }
  return (
    <Empty title="There are no runs yet">
      <p>Write a first experiment, if there is none:</p>
      <Command>cargo cobalt init</Command>
      <p>Then run it; its results appear here by themselves:</p>
      <Command>cargo cobalt run</Command>
    </Empty>
  );
}

/** The filters leave none. */
export function NoMatches({ onClear }: { onClear: () => void }) {
  return (
    <Empty title="No run matches">
      <p>There are runs, but none that is as the filters say.</p>
      <Button onClick={onClear}>Clear all filters</Button>
    </Empty>
  );
}
