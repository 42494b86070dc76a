// Sets the theme before anything is drawn, so that nothing flashes.
let kept = null;
try {
  kept = localStorage.getItem('theme');
} catch {
  // A browser may keep nothing for this page.
}
const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.dataset.theme =
  kept === 'light' || kept === 'dark' ? kept : isDark ? 'dark' : 'light';
