// The name of the page in the browser's tab.
import { useEffect } from 'react';

export function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Cobalt`;
  }, [title]);
}
