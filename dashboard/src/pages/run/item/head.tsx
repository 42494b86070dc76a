// The head of an item, always in view: name, verdict, why it failed, trials and navigation.
import { ChevronDown, ChevronUp, Link as LinkIcon, Maximize2, PanelRight, X } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';
import { Link } from 'react-router';
import type { Report, WholeItem } from '../../../api/types';
import { IconButton, iconButtonLook } from '../../../components/button';
import { CopyButton } from '../../../components/copy-button';
import { CutText } from '../../../components/cut-text';
import { ItemVerdict } from '../../../components/verdict';
import { formatCount } from '../../../lib/format';
import { escapeHidden } from '../../../lib/texts';
import { FailureList } from './failure-list';
import { Heading } from './heading';
import { trialsOf } from './item';
import { TrialPicker } from './trials';

interface HeadProps {
  id: string;
  run: Report | undefined;
  itemKey: string;
  whole: WholeItem | undefined;
  /** The heading of the page; without it, the item is a pane. */
  heading?: RefObject<HTMLHeadingElement | null>;
  /** The index of the selected trial. */
  shown: number;
  onShow: (trial: number) => void;
  onGo: (key: string) => void;
  /** The same item in the other form: a page, or a pane beside the table. */
  other: string;
  /** Closes the pane. */
  onClose?: () => void;
  /** The source of the item. */
  children?: ReactNode;
}

export function Head(props: HeadProps) {
  const { id, run, itemKey, whole, heading, shown, onShow, onGo, other, onClose, children } = props;
  const otherLabel = onClose === undefined ? 'Show beside the table' : 'Open as page';
  const name = whole?.row.name ?? itemKey;
  return (
    <header className="@container shrink-0 border-line border-b bg-surface py-1.5 pr-2 pl-4">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="order-1 flex items-center">
          <NeighbourButtons whole={whole} onGo={onGo} />
        </span>
        <div className="order-3 flex min-w-0 basis-full flex-wrap items-center gap-x-2 gap-y-1 @2xl:order-2 @2xl:flex-1 @2xl:basis-0">
          <Heading
            depth={0}
            id={id}
            ref={heading}
            tabIndex={heading === undefined ? undefined : -1}
            className="flex min-w-0 font-semibold text-base outline-none"
            title={escapeHidden(name === itemKey ? name : `${name}\n${itemKey}`)}
          >
            <CutText>{name}</CutText>
          </Heading>
          {whole && <ItemVerdict row={whole.row} />}
        </div>
        <span className="order-2 ml-auto flex items-center @2xl:order-3">
          <CopyButton text={window.location.href} label="Copy a link to this item" icon={<LinkIcon />} />
          <Link to={other} aria-label={otherLabel} title={otherLabel} className={iconButtonLook()}>
            {onClose === undefined ? <PanelRight /> : <Maximize2 />}
          </Link>
          {onClose !== undefined && (
            <IconButton label="Close" aria-keyshortcuts="Escape" onClick={onClose}>
              <X />
            </IconButton>
          )}
        </span>
      </div>
      {children}
      {whole && run && (
        <div className="mt-1 flex flex-col gap-1.5 pr-2 empty:hidden">
          <FailureList key={whole.item.key} run={run} item={whole.item} shown={shown} onShow={onShow} />
          <TrialPicker trials={trialsOf(whole.item)} shown={shown} onShow={onShow} />
        </div>
      )}
    </header>
  );
}

/** The position among the matching items, and the buttons to the neighbours. */
function NeighbourButtons({ whole, onGo }: { whole: WholeItem | undefined; onGo: (key: string) => void }) {
  const { previous, next, position, matching } = whole ?? {};
  return (
    <>
      <IconButton
        label="Previous item"
        className="-ml-2.5"
        aria-keyshortcuts="k"
        disabled={previous == null}
        onClick={() => previous != null && onGo(previous)}
      >
        <ChevronUp />
      </IconButton>
      <IconButton
        label="Next item"
        aria-keyshortcuts="j"
        disabled={next == null}
        onClick={() => next != null && onGo(next)}
      >
        <ChevronDown />
      </IconButton>
      <p role="status" className="ml-1 whitespace-nowrap text-muted text-xs tabular-nums">
        {position != null && `${formatCount(position + 1)} of ${formatCount(matching ?? 0)}`}
      </p>
    </>
  );
}
