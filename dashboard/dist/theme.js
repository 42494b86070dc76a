// Sets the theme before the first paint, to avoid a flash of the wrong one.
let stored = null;
try {
  stored = localStorage.getItem('theme');
} catch {
  // Storage may be unavailable.
}
const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.dataset.theme =
  stored === 'light' || stored === 'dark' ? stored : isDark ? 'dark' : 'light';
