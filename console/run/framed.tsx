import type { ComponentChildren, JSX } from 'preact';
import type { StoredMessage } from '../../contract/messages/messages';
import { visibleText } from '../parts/plain-text';
import { runTexts } from '../texts/run';
import { MessageParts } from './message';

export function MessageBlock({ message }: { readonly message: StoredMessage }): JSX.Element {
  const { role, parts } = message;
  const [part] = parts;
  const who =
    role === 'tool' && part?.type === 'tool-result'
      ? runTexts.who.tool(visibleText(part.name))
      : role === 'user'
        ? runTexts.who.user
        : role === 'system'
          ? runTexts.who.system
          : runTexts.agent;
  return (
    <Framed who={who}>
      <MessageParts message={message} withCalls />
    </Framed>
  );
}

/** What a run says, in a frame with the name of who says it. */
export function Framed({ who, children }: { readonly who: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <figure class="framed">
      <figcaption>
        <bdi>{visibleText(who)}</bdi>
      </figcaption>
      <div>{children}</div>
    </figure>
  );
}

export function Section({
  title,
  isOpen = false,
  children,
}: {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details class="step-section" open={isOpen}>
      <summary>{title}</summary>
      <div class="step-section-inside">{children}</div>
    </details>
  );
}

export function Facts({ facts }: { readonly facts: readonly (readonly [string, string | undefined])[] }): JSX.Element | null {
  const known = facts.filter(([, value]) => value !== undefined && value !== '');
  if (known.length === 0) return null;
  return (
    <dl class="run-facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <bdi>{visibleText(value ?? '')}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
