// A menu of actions and links behind a button.
import { Menu as Base } from '@base-ui/react/menu';
import clsx from 'clsx';
import { ChevronDown } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'react-router';
import { Button } from './button';

interface MenuProps {
  name: ReactNode;
  /** Another button than the usual one. */
  trigger?: ReactElement;
  /** Actions, links and separators. */
  children: ReactNode;
}

export function Menu({ name, trigger, children }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger ?? <Button />}>
        {name}
        {trigger === undefined && <ChevronDown aria-hidden="true" />}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={4} collisionPadding={8} className="z-50">
          <Base.Popup className="max-h-(--available-height) min-w-(--anchor-width) overflow-y-auto rounded-md border border-line bg-surface p-1 text-text shadow-lg outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const ITEM =
  'flex w-full cursor-pointer items-center gap-3 rounded px-3 py-1.5 text-left text-sm whitespace-nowrap outline-none data-disabled:cursor-default data-disabled:opacity-50 data-highlighted:bg-sunken [&_svg]:size-4 [&_svg]:shrink-0';

interface MenuActionProps {
  onClick: () => void;
  isDisabled?: boolean;
  /** Whether the action destroys something. */
  isDangerous?: boolean;
  children: ReactNode;
}

export function MenuAction({ onClick, isDisabled, isDangerous, children }: MenuActionProps) {
  return (
    <Base.Item className={clsx(ITEM, isDangerous && 'text-bad')} disabled={isDisabled} onClick={onClick}>
      {children}
    </Base.Item>
  );
}

/** A link to a page of the dashboard, or to a file of the server to download. */
export function MenuLink({
  to,
  download,
  children,
}: {
  to: string;
  download?: boolean;
  children: ReactNode;
}) {
  // biome-ignore lint/a11y/useAnchorContent: the content is that of the item
  const link = download ? <a href={to} download /> : <Link to={to} />;
  return (
    <Base.LinkItem className={ITEM} closeOnClick render={link}>
      {children}
    </Base.LinkItem>
  );
}

export const MenuSeparator = () => <Base.Separator className="my-1 h-px bg-line" />;
