import type { Message, Part } from '../../contract/messages/messages';
import { JsonView } from '../parts/json-view';
import { OutsideLink, Said } from '../parts/said';
import { visibleText } from '../parts/plain-text';
import { runTexts } from '../texts/run';

interface MessagePartsProps {
  readonly message: Pick<Message, 'parts'>;
  readonly withCalls?: boolean;
}

/** Tool calls are left out where the log has an entry for each call. */
export function MessageParts({ message, withCalls = false }: MessagePartsProps) {
  return (
    <>
      {message.parts.map((part, at) => (
        <MessagePart key={at} part={part} withCalls={withCalls} />
      ))}
    </>
  );
}

function MessagePart({ part, withCalls }: { readonly part: Part; readonly withCalls: boolean }) {
  switch (part.type) {
    case 'text':
      return part.text === '' ? null : <Said text={part.text} />;
    case 'reasoning':
      return <Reasoning text={part.text} />;
    case 'file':
      return (
        <p class="muted">
          {runTexts.file(visibleText(part.mediaType))}
          {typeof part.data !== 'string' && (
            <>
              : <OutsideLink href={part.data.url}>{visibleText(part.data.url.slice(0, 300))}</OutsideLink>
            </>
          )}
        </p>
      );
    case 'tool-call':
      return withCalls ? (
        <div class="said-call">
          <strong>
            {runTexts.callOf('')}
            <bdi>{visibleText(part.name)}</bdi>
          </strong>
          <JsonView value={part.input} />
        </div>
      ) : null;
    case 'tool-result':
      if (part.multipart === true && Array.isArray(part.output)) return <MessageParts message={{ parts: part.output }} />;
      return <JsonView value={part.output} />;
    default:
      return <JsonView value={part} depth={2} />;
  }
}

export function Reasoning({ text, isOpen = false }: { readonly text: string; readonly isOpen?: boolean }) {
  if (text === '') return null;
  return (
    <details class="reasoning" open={isOpen}>
      <summary>{runTexts.reasoning}</summary>
      <Said text={text} />
    </details>
  );
}
