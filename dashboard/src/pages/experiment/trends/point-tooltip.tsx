// The tooltip of a point.
import clsx from 'clsx';
import { CutText } from '../../../components/cut-text';
import { Verdict } from '../../../components/verdict';
import { formatDateTime, shortCommit } from '../../../lib/format';
import { replayMark } from '../../../lib/traffic';
import { changeFromPrevious, type PlottedRun, type Series } from './series';

interface PointTooltipProps {
  run: PlottedRun;
  series: Series[];
  format: (value: number) => string;
  /** Formats a signed difference. */
  formatChange: (value: number) => string;
}

export function PointTooltip({ run, series, format, formatChange }: PointTooltipProps) {
  const { point, datasetChanged } = run;
  const mark = replayMark(point.replayedItems, point.totalItems);
  return (
    <div className="min-w-52 max-w-80 rounded-md border border-line bg-surface p-3 text-xs shadow-lg">
      <p className="flex items-center justify-between gap-3">
        <span className="font-medium">{formatDateTime(point.timestamp)}</span>
        <Verdict verdict={point.verdict} />
      </p>
      {typeof point.gitCommit === 'string' && (
        <p className="mt-1 text-muted">
          commit <code className="font-mono">{shortCommit(point.gitCommit)}</code>
          {point.gitDirty === true && ', uncommitted changes'}
        </p>
      )}
      {datasetChanged && <p className="mt-1 text-warn">Dataset changed since the previous run</p>}
      {mark !== undefined && <p className="mt-1 text-muted">Latency and cost {mark}</p>}
      <dl className="mt-2 grid grid-cols-[auto_auto_auto] items-baseline gap-x-3 gap-y-0.5 tabular-nums">
        {series.map((one) => {
          const value = one.value(point);
          const difference = changeFromPrevious(one, run);
          return (
            <div key={one.name} className="contents">
              <dt className="flex min-w-0 items-center gap-1.5">
                <span className="size-2 shrink-0 rounded-full" style={{ background: one.colour }} />
                <CutText>{one.name}</CutText>
              </dt>
              <dd className="text-right font-medium">{typeof value === 'number' ? format(value) : '–'}</dd>
              <dd className={clsx('text-right text-muted')}>
                {difference === undefined ? '' : formatChange(difference)}
              </dd>
            </div>
          );
        })}
      </dl>
      <p className="mt-2 text-muted">Click or press Enter to open the run</p>
    </div>
  );
}
