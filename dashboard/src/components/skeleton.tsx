// A loading placeholder.
import clsx from 'clsx';

/** Grey bars; `label` is for screen readers. */
export function Skeleton({
  label,
  rows = 1,
  className,
}: {
  label: string;
  rows?: number;
  className?: string;
}) {
  return (
    <div role="status" aria-busy="true" className="flex flex-col gap-2">
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are identical
        <div key={row} className={clsx('animate-pulse rounded-md bg-sunken', className ?? 'h-9')} />
      ))}
    </div>
  );
}
