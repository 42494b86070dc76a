// The drawer of an item. Its URL can be shared; j and k or the arrow keys go to the neighbours.
import type { UseQueryResult } from '@tanstack/react-query';
import { type KeyboardEvent, type MouseEvent, useEffect, useId, useRef } from 'react';
import { useNavigate } from 'react-router';
import { ApiError } from '../../../api/client';
import type { Report, WholeItem } from '../../../api/types';
import { ErrorMessage } from '../../../components/error-message';
import { Skeleton } from '../../../components/skeleton';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import { Content } from './content';
import { DrawerHeader } from './drawer-header';

interface DrawerProps {
  run: Report;
  itemKey: string;
  query: UseQueryResult<WholeItem>;
  itemAt: (key: string) => string;
  onClose: () => void;
}

export function Drawer({ run, itemKey, query, itemAt, onClose }: DrawerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const title = useId();
  const navigate = useNavigate();
  const { get, set } = useUrlParameters();

  useEffect(() => {
    const element = dialog.current;
    if (element !== null && !element.open) element.showModal();
    // Lets the scroll keys work immediately.
    body.current?.focus();
    return () => element?.close();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each item starts at the top
  useEffect(() => {
    // In newer browsers `scrollTo` returns a promise, which must not become the cleanup.
    body.current?.scrollTo({ top: 0 });
  }, [itemKey]);

  // Synchronous: the next key press starts from the new item.
  const go = (key: string) =>
    navigate(itemAt(key), { replace: true, preventScrollReset: true, flushSync: true });
  const onKeyDown = (event: KeyboardEvent) => {
    const key = targetKey(event, query.data);
    if (key === undefined) return;
    event.preventDefault();
    void go(key);
  };
  const onBackdropClick = (event: MouseEvent) => event.target === event.currentTarget && onClose();
  const shown = Number.parseInt(get('execution'), 10);
  // The previous item is shown while the next one is loading.
  const whole = query.data;
  return (
    <dialog
      ref={dialog}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={onKeyDown}
      onClick={onBackdropClick}
      className="fixed inset-y-0 right-0 left-auto m-0 h-dvh max-h-none w-full max-w-[56rem] border-line border-l bg-surface p-0 text-text shadow-2xl backdrop:bg-black/25"
    >
      <div className="flex h-full flex-col">
        <DrawerHeader id={title} itemKey={itemKey} whole={whole} onGo={go} onClose={onClose} />
        <div
          ref={body}
          tabIndex={-1}
          className="min-h-0 flex-1 overflow-y-auto overscroll-contain outline-none"
        >
          {query.isError && whole === undefined && (
            <ErrorMessage title={problem(query.error)} error={query.error} onRetry={query.refetch} />
          )}
          {query.isPending && (
            <div className="p-5">
              <Skeleton label="Loading the item" rows={5} className="h-20" />
            </div>
          )}
          {whole && (
            <Content
              key={whole.item.key}
              run={run}
              whole={whole}
              shown={shown >= 1 ? shown - 1 : 0}
              onShow={(place) => set({ execution: place === 0 ? undefined : String(place + 1) })}
            />
          )}
        </div>
      </div>
    </dialog>
  );
}

const problem = (error: Error) =>
  error instanceof ApiError && error.status === 404 ? 'Item not found' : 'Failed to load the item';

/** The item that a pressed key navigates to. */
function targetKey(event: KeyboardEvent, whole: WholeItem | undefined): string | undefined {
  const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
  if (isTyping || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  if (event.key === 'j' || event.key === 'ArrowRight') return whole?.next ?? undefined;
  if (event.key === 'k' || event.key === 'ArrowLeft') return whole?.previous ?? undefined;
  return undefined;
}
