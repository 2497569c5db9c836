import type { ComponentChildren, JSX } from 'preact';
import type { StoredMessage } from '../../contract/messages/messages';
import { Fact } from '../parts/fact';
import { SaidFrame } from '../parts/said-frame';
import { visibleText } from '../parts/plain-text';
import { runTexts } from '../texts/run';
import { speakerOf } from './entries';
import { MessageParts } from './message';

export function MessageBlock({ message }: { readonly message: StoredMessage }): JSX.Element {
  return (
    <SaidFrame who={speakerOf(message.role === 'assistant' ? { message, agent: runTexts.agent } : { message })}>
      <MessageParts message={message} withCalls />
    </SaidFrame>
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
      <div>{children}</div>
    </details>
  );
}

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
