// The head of an item, always in view: name, verdict, why it failed, trials and the ways to go on.
import { ChevronDown, ChevronUp, Link as LinkIcon, Maximize2, PanelRight, X } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';
import { Link } from 'react-router';
import type { Report, WholeItem } from '../../api/types';
import { IconButton, iconButtonLook } from '../../components/button';
import { CopyButton } from '../../components/copy-button';
import { MiddleCut } from '../../components/middle-cut';
import { ItemVerdict } from '../../components/verdict';
import { formatCount } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { FailureList } from './failure-list';
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
  const Heading = heading === undefined ? 'h2' : 'h1';
  const name = whole?.row.name ?? itemKey;
  return (
    <header className="flex shrink-0 flex-col gap-1.5 border-line border-b bg-surface py-1.5 pr-2 pl-4">
      <div className="flex items-center">
        <Steps whole={whole} onGo={onGo} />
        <span className="ml-auto flex items-center">
          <CopyButton text={window.location.href} label="Copy a link to this item" icon={<LinkIcon />} />
          {onClose === undefined ? (
            <Link
              to={other}
              aria-label="Show beside the table"
              title="Show beside the table"
              className={iconButtonLook()}
            >
              <PanelRight />
            </Link>
          ) : (
            <Link to={other} aria-label="Open as page" title="Open as page" className={iconButtonLook()}>
              <Maximize2 />
            </Link>
          )}
          {onClose !== undefined && (
            <IconButton label="Close" aria-keyshortcuts="Escape" onClick={onClose}>
              <X />
            </IconButton>
          )}
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 pr-2">
        <Heading
          id={id}
          ref={heading}
          tabIndex={heading === undefined ? undefined : -1}
          className="flex min-w-0 font-semibold text-base outline-none"
          title={escapeHidden(name === itemKey ? name : `${name}\n${itemKey}`)}
        >
          <MiddleCut>{name}</MiddleCut>
        </Heading>
        {whole && <ItemVerdict row={whole.row} />}
        {children}
      </div>
      {whole && run && (
        <div className="flex flex-col gap-1.5 pr-2">
          <FailureList key={whole.item.key} run={run} item={whole.item} shown={shown} onShow={onShow} />
          <TrialPicker trials={trialsOf(whole.item)} shown={shown} onShow={onShow} />
        </div>
      )}
    </header>
  );
}

/** The position among the matching items, and the buttons to the neighbours. */
function Steps({ whole, onGo }: { whole: WholeItem | undefined; onGo: (key: string) => void }) {
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
