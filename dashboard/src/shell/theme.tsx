// The theme: the system's, unless the user chose one. `public/theme.js` sets it before the first paint.
import { Moon, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { IconButton } from '../components/button';

type Theme = 'light' | 'dark';

const root = document.documentElement;
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const currentTheme = (): Theme => (root.dataset.theme === 'dark' ? 'dark' : 'light');

/** Sets the theme and remembers it in this browser. */
export function setTheme(theme: Theme) {
  root.dataset.theme = theme;
  for (const listener of listeners) listener();
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // Without storage, the theme lasts until the page is closed.
  }
}

/** The current theme. */
export const useTheme = () => useSyncExternalStore(subscribe, currentTheme);

export function ThemeButton() {
  const other = useTheme() === 'dark' ? 'light' : 'dark';
  const Icon = other === 'dark' ? Moon : Sun;
  return (
    <IconButton label={`Switch to ${other} theme`} onClick={() => setTheme(other)}>
      <Icon />
    </IconButton>
  );
}
