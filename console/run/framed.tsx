import type { ComponentChildren, JSX } from 'preact';
import type { StoredMessage } from '../../contract/messages/messages';
import { Fact } from '../parts/fact';
import { visibleText } from '../parts/plain-text';
import { runTexts } from '../texts/run';
import { speakerOf } from './entries';
import { MessageParts } from './message';

export function MessageBlock({ message }: { readonly message: StoredMessage }): JSX.Element {
  return (
    <Framed who={speakerOf(message.role === 'assistant' ? { message, agent: runTexts.agent } : { message })}>
      <MessageParts message={message} withCalls />
    </Framed>
  );
}

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

interface SectionProps {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}

export function Section({ title, isOpen = false, children }: SectionProps): JSX.Element {
  return (
    <details class="step-section" open={isOpen}>
      <summary>{title}</summary>
      <div class="step-section-inside">{children}</div>
    </details>
  );
}

/** The facts that have a value. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, string | undefined])[] }): JSX.Element | null {
  const known = facts.filter(([, value]) => value !== undefined && value !== '');
  if (known.length === 0) return null;
  return (
    <dl class="run-facts">
      {known.map(([name, value = '']) => (
        <Fact key={name} name={name}>
          <bdi>{visibleText(value)}</bdi>
        </Fact>
      ))}
    </dl>
  );
}
