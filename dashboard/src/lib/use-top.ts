// The position of an element on the page.
import { type RefObject, useLayoutEffect, useState } from 'react';

/** The distance of an element from the top of the page. It is kept up to date: content above may resize or load later. */
export function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () =>
      setTop(Math.round((element.current?.getBoundingClientRect().top ?? 0) + window.scrollY));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(document.body);
    return () => watch.disconnect();
  }, [element]);
  return top;
}
