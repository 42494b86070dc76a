// The page of an item: the same as the pane beside the table of its run.

import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { overviewQuery } from '../../../api/queries';
import { CutText } from '../../../components/cut-text';
import { besideTable, itemPage, runPage } from '../../../lib/item-addresses';
import { escapeHidden } from '../../../lib/texts';
import { useTitle } from '../../../lib/use-title';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import { parseFilter } from '../items/filter';
import { HeadingLevel } from './heading';
import { useItem } from './use-item';
import { ItemView } from './view';

export function Component() {
  const { id = '', key = '' } = useParams();
  const { search } = useUrlParameters();
  const navigate = useNavigate();
  const filter = useMemo(() => parseFilter(search), [search]);
  const heading = useRef<HTMLHeadingElement>(null);
  const run = useQuery(overviewQuery(id)).data?.run;
  const item = useItem(id, key, filter).data;
  useTitle(escapeHidden(item?.row.name ?? key));
  // biome-ignore lint/correctness/useExhaustiveDependencies: each item is a page of its own
  useEffect(() => heading.current?.focus(), [key]);
  // Synchronous: the next key press starts from the new item.
  const go = useCallback(
    (next: string) => navigate(itemPage(id, next, search), { replace: true, flushSync: true }),
    [navigate, id, search],
  );
  const leave = useCallback(() => navigate(runPage(id, search)), [navigate, id, search]);
  return (
    <div className="flex h-[calc(100dvh-5.25rem)] min-h-96 sm:h-[calc(100dvh-6.25rem)] flex-col gap-2">
      <Link
        to={runPage(id, search)}
        className="inline-flex max-w-full items-center gap-1.5 self-start text-accent hover:underline"
      >
        <ArrowLeft className="size-4 shrink-0" aria-hidden="true" />
        <span className="flex min-w-0 gap-1">
          Run <CutText>{run?.name ?? id}</CutText>
        </span>
      </Link>
      <div className="min-h-0 flex-1 overflow-hidden rounded-lg border border-line">
        <HeadingLevel value={1}>
          <ItemView
            runId={id}
            itemKey={key}
            filter={filter}
            heading={heading}
            other={besideTable(id, key, search)}
            onGo={go}
            onClose={leave}
          />
        </HeadingLevel>
      </div>
    </div>
  );
}
