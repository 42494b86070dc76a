// The headings of an item, whose levels depend on where it is: on its own page, or on that of its run.
import { type ComponentProps, createContext, useContext } from 'react';

/** The level of the heading with the item's name. */
export const HeadingLevel = createContext<1 | 2>(2);

type HeadingProps = ComponentProps<'h2'> & {
  /** How far below the item's name: 1 for sections. */
  depth: 0 | 1 | 2 | 3;
};

export function Heading({ depth, ...rest }: HeadingProps) {
  const level = useContext(HeadingLevel) + depth;
  const Element = `h${level}` as 'h2';
  return <Element {...rest} />;
}
