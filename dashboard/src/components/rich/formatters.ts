// Text formatters, loaded on first use. Until then, and if that fails, texts are plain.
export const loadHighlighter = () => import('./highlight');
export const loadMarkdown = () => import('./markdown');
