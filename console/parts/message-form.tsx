import type { ComponentChildren } from 'preact';

interface MessageFormProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
  /** Whether Enter sends. */
  readonly sendsAt: (event: KeyboardEvent) => boolean;
  readonly id?: string;
  readonly isDisabled?: boolean;
  readonly children: ComponentChildren;
}

export function MessageForm({ label, text, onText, onSend, sendsAt, isDisabled = false, children, ...rest }: MessageFormProps) {
  const send = (event: Event): void => {
    event.preventDefault();
    onSend();
  };
  return (
    <form class="composer-form flow" onSubmit={send}>
      <textarea
        rows={2}
        aria-label={label}
        placeholder={label}
        value={text}
        disabled={isDisabled}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && sendsAt(event) && send(event)}
        {...rest}
      />
      {children}
    </form>
  );
}
