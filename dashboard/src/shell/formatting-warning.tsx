// A warning that texts are plain because their formatter could not be loaded: one for the whole page, which may have many texts.
import { RetryButtons } from '../components/imported';
import { loadHighlighter, loadMarkdown } from '../components/rich/formatters';
import { startImport, useHasFailed } from '../lib/use-import';

export function FormattingWarning() {
  const isCodePlain = useHasFailed(loadHighlighter);
  const isMarkdownPlain = useHasFailed(loadMarkdown);
  if (!isCodePlain && !isMarkdownPlain) return null;
  const retry = () => {
    if (isCodePlain) void startImport(loadHighlighter);
    if (isMarkdownPlain) void startImport(loadMarkdown);
  };
  return (
    <div
      role="status"
      className="flex flex-wrap items-center justify-center gap-x-4 gap-y-2 bg-warn-soft px-6 py-2 text-warn"
    >
      <p>
        Failed to load the text formatter; texts are shown as plain text. If{' '}
        <code className="font-mono">cargo cobalt serve</code> was updated, reload the page.
      </p>
      <RetryButtons onRetry={retry} />
    </div>
  );
}
