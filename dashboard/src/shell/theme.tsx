// Light or dark: as the system has it, until somebody chooses. `public/theme.js` sets it before the page is drawn.
import { Moon, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { IconButton } from '../components/button';

export type Theme = 'light' | 'dark';

const root = document.documentElement;
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const currentTheme = (): Theme => (root.dataset.theme === 'dark' ? 'dark' : 'light');

/** Chooses, for this browser. */
export function setTheme(theme: Theme) {
  root.dataset.theme = theme;
  for (const listener of listeners) listener();
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // A browser that keeps nothing for this page shows the theme until it is left.
  }
}

/** The theme that is shown. */
export const useTheme = () => useSyncExternalStore(subscribe, currentTheme);

export function ThemeButton() {
  const other = useTheme() === 'dark' ? 'light' : 'dark';
  const Icon = other === 'dark' ? Moon : Sun;
  return (
    <IconButton label={`Switch to the ${other} theme`} onClick={() => setTheme(other)}>
      <Icon />
    </IconButton>
  );
}
