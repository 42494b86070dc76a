// The conversations of a compared item, beside each other.
import type { ComparedItem } from '../../../api/types';
import { Conversation } from '../../../components/conversation';
import { LETTERS, type ReferenceName, runInSentence, runLabel } from './run-letter';

interface ConversationsProps {
  item: ComparedItem;
  reference: ReferenceName;
}

export function Conversations({ item, reference }: ConversationsProps) {
  const conversations = item.outputs.flatMap((output, place) =>
    output?.transcript == null ? [] : [{ transcript: output.transcript, place }],
  );
  if (conversations.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer font-medium text-accent text-xs">
        {conversations.length > 1 ? 'Conversations' : 'Conversation'}
      </summary>
      <div className="mt-3 grid gap-6 md:grid-cols-[repeat(auto-fit,minmax(18rem,1fr))]">
        {conversations.map(({ transcript, place }) => (
          <section
            key={LETTERS[place]}
            aria-label={`Conversation of ${runInSentence(place, reference)}`}
            className="flex min-w-0 flex-col gap-2"
          >
            <p className="font-medium text-muted text-xs">{runLabel(place, reference)}</p>
            <Conversation transcript={transcript} />
          </section>
        ))}
      </div>
    </details>
  );
}
