// Buttons, from most to least prominent.
import clsx from 'clsx';
import type { ComponentProps } from 'react';

const SHAPE =
  'inline-flex items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0';

const LOOKS = {
  main: 'bg-accent text-on-accent hover:brightness-110',
  plain: 'border border-line bg-surface hover:bg-sunken',
  bare: 'text-muted hover:bg-sunken hover:text-text',
};

/** The classes of a link that looks like a button. */
export const buttonLook = (look: keyof typeof LOOKS = 'plain') => clsx(SHAPE, LOOKS[look], 'h-9 px-3');

type ButtonProps = ComponentProps<'button'> & { look?: keyof typeof LOOKS };

export function Button({ look = 'plain', className, ...rest }: ButtonProps) {
  return <button type="button" className={clsx(buttonLook(look), className)} {...rest} />;
}

/** The classes of a link that looks like a button with only an icon. */
export const iconButtonLook = (look: keyof typeof LOOKS = 'bare') => clsx(SHAPE, LOOKS[look], 'size-9');

/** A button with only an icon; `label` is its accessible name. */
export function IconButton({ label, look = 'bare', className, ...rest }: ButtonProps & { label: string }) {
  const shape = clsx(iconButtonLook(look), className);
  return <button type="button" aria-label={label} title={label} className={shape} {...rest} />;
}
