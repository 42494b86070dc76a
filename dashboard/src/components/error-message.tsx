// An error with its message and, optionally, a retry button.
import { CircleAlert } from 'lucide-react';
import { Button } from './button';

interface ErrorMessageProps {
  title: string;
  error: unknown;
  onRetry?: () => void;
}

export function ErrorMessage({ title, error, onRetry }: ErrorMessageProps) {
  return (
    <div
      role="alert"
      className="mx-auto my-8 flex max-w-xl gap-3 rounded-lg border border-bad bg-surface p-4"
    >
      <CircleAlert className="mt-0.5 size-5 shrink-0 text-bad" aria-hidden="true" />
      <div className="flex min-w-0 flex-col items-start gap-2">
        <p className="font-semibold">{title}</p>
        <p className="max-w-full text-muted [overflow-wrap:anywhere]">
          {error instanceof Error ? error.message : String(error)}
        </p>
        {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
      </div>
    </div>
  );
}
