// A place in a source file: it opens in the editor, if one is set, and can be copied.
import { CopyButton } from '../../../components/copy-button';
import { Text } from '../../../components/text';
import { escapeHidden } from '../../../lib/texts';
import { editorUrl, type Place, placeText } from './source';

interface SourceLinkProps {
  place: Place;
  /** What the place declares, such as `experiment`. */
  what: string;
  editor: string | null | undefined;
}

export function SourceLink({ place, what, editor }: SourceLinkProps) {
  const text = placeText(place);
  const url = editorUrl(editor, place);
  // The end of a path tells it apart.
  const name = text.slice(text.lastIndexOf('/') + 1);
  return (
    <span className="inline-flex min-w-0 items-center text-xs">
      {url === undefined ? (
        <span
          className="min-w-0 truncate text-muted"
          title={escapeHidden(`${text}\nSet dashboard.editor in cobalt.toml to open it`)}
        >
          <Text>{name}</Text>
        </span>
      ) : (
        <a
          href={url}
          title={escapeHidden(`Open ${text} in the editor`)}
          className="min-w-0 truncate text-accent hover:underline"
        >
          <span className="sr-only">Open the {what} in the editor: </span>
          <Text>{name}</Text>
        </a>
      )}
      <CopyButton text={text} label={`Copy the path of the ${what}`} isSmall />
    </span>
  );
}
