// Sections of the page of which one is open, or none: the matrix below them has the rest of the window.
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useIsWide } from '../../lib/use-media-query';
import { useUrlParameters } from '../../lib/use-url-parameters';

interface Section {
  /** In the URL. */
  id: string;
  title: string;
  content: ReactNode;
}

interface DetailsProps {
  sections: Section[];
  /** Controls at the end of the bar. */
  actions?: ReactNode;
}

/** In a wide window, the first section is open at first. */
export function Details({ sections, actions }: DetailsProps) {
  const { get, set } = useUrlParameters();
  const panel = useId();
  const isWide = useIsWide();
  const initial = (isWide ? sections[0]?.id : undefined) ?? 'none';
  const wanted = get('details') || initial;
  const open = sections.find(({ id }) => id === wanted);
  const toggle = (id: string) => {
    const next = id === open?.id ? 'none' : id;
    set({ details: next === initial ? '' : next });
  };
  if (sections.length === 0) return null;
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-1 px-2">
        {sections.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            aria-expanded={id === open?.id}
            aria-controls={id === open?.id ? panel : undefined}
            onClick={() => toggle(id)}
            className={clsx(
              'flex h-10 items-center gap-1 rounded px-2 font-medium hover:text-accent',
              id === open?.id ? 'text-text' : 'text-muted',
            )}
          >
            <ChevronRight
              aria-hidden="true"
              className={clsx('size-4 transition-transform', id === open?.id && 'rotate-90')}
            />
            {title}
          </button>
        ))}
        {actions !== undefined && <span className="ml-auto flex items-center py-1">{actions}</span>}
      </div>
      {open !== undefined && (
        <section
          id={panel}
          aria-label={open.title}
          className="overflow-x-auto border-line border-t px-4 py-3"
        >
          {open.content}
        </section>
      )}
    </div>
  );
}
