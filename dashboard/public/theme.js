// Sets the theme before anything is drawn, so that nothing flashes.
const kept = localStorage.getItem('theme');
const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.dataset.theme =
  kept === 'light' || kept === 'dark' ? kept : isDark ? 'dark' : 'light';
