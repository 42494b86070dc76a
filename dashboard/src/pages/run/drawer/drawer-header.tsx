// The header of the drawer: the item and the navigation.
import { Braces, ChevronDown, ChevronUp, Link as LinkIcon, X } from 'lucide-react';
import type { WholeItem } from '../../../api/types';
import { IconButton } from '../../../components/button';
import { CopyButton } from '../../../components/copy-button';
import { Text } from '../../../components/text';
import { ItemVerdict } from '../../../components/verdict';
import { formatCount } from '../../../lib/format';

interface DrawerHeaderProps {
  id: string;
  itemKey: string;
  whole: WholeItem | undefined;
  onGo: (key: string) => void;
  onClose: () => void;
}

export function DrawerHeader({ id, itemKey, whole, onGo, onClose }: DrawerHeaderProps) {
  const { previous, next, position, matching } = whole ?? {};
  return (
    <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-b bg-surface py-2 pr-3 pl-5">
      <div className="order-2 flex min-w-0 basis-full items-center gap-2 sm:order-1 sm:flex-1">
        <h2 id={id} className="truncate font-semibold text-base" title={itemKey}>
          <Text>{whole?.row.name ?? itemKey}</Text>
        </h2>
        {whole && <ItemVerdict row={whole.row} />}
      </div>
      <div className="order-1 flex w-full items-center sm:order-2 sm:w-auto">
        {position != null && (
          <p role="status" className="mr-1 whitespace-nowrap text-muted text-xs tabular-nums">
            {formatCount(position + 1)} of {formatCount(matching ?? 0)}
          </p>
        )}
        <IconButton
          label="Previous item"
          aria-keyshortcuts="k ArrowLeft"
          disabled={previous == null}
          onClick={() => previous != null && onGo(previous)}
        >
          <ChevronUp />
        </IconButton>
        <IconButton
          label="Next item"
          aria-keyshortcuts="j ArrowRight"
          disabled={next == null}
          onClick={() => next != null && onGo(next)}
        >
          <ChevronDown />
        </IconButton>
        <span className="mx-1 h-5 w-px bg-line" aria-hidden="true" />
        <CopyButton text={window.location.href} label="Copy a link to this item" icon={<LinkIcon />} />
        {whole && (
          <CopyButton
            text={JSON.stringify(whole.item, null, 2)}
            label="Copy the item as JSON"
            icon={<Braces />}
          />
        )}
        <IconButton label="Close" className="ml-auto" onClick={onClose}>
          <X />
        </IconButton>
      </div>
    </header>
  );
}
