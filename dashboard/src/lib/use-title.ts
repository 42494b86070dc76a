// Sets the document title.
import { useEffect } from 'react';

export function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Cobalt`;
  }, [title]);
}
