import type { ComponentChildren, JSX } from 'preact';
import type { Message } from '../../contract/messages/messages';
import { SaidFrame } from '../parts/said-frame';
import { runTexts } from '../texts/run';
import { speakerOf } from './entries';
import { MessageParts } from './message';

interface MessageBlockProps {
  readonly message: Message;
  /** Absent: the role of the message says who speaks. */
  readonly who?: string;
}

export function MessageBlock({ message, who }: MessageBlockProps): JSX.Element {
  const speaker = speakerOf(message.role === 'assistant' ? { message, agent: runTexts.agent } : { message });
  return (
    <SaidFrame who={who ?? speaker}>
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
