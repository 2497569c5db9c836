import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button';
import { texts } from '../texts';

interface AnswerFormProps {
  readonly label: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
  readonly buttons: ComponentChildren;
  readonly id?: string;
}

export function AnswerForm({ label, onSubmit, children, buttons, id }: AnswerFormProps): JSX.Element {
  return (
    <form
      class="decision-form form stack"
      id={id}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <div class="actions start">{buttons}</div>
    </form>
  );
}

interface DecisionFormProps extends Pick<AnswerFormProps, 'onSubmit' | 'children'> {
  readonly title: string;
  readonly submit?: string;
  readonly kind?: 'danger';
  readonly isReady?: boolean;
  readonly onLeave: () => void;
}

export function DecisionForm({ title, submit = title, kind, isReady = true, onSubmit, onLeave, children }: DecisionFormProps): JSX.Element {
  const start = useRef<HTMLHeadingElement>(null);
  // A layout effect acts before the next key.
  useLayoutEffect(() => {
    const form = start.current?.closest('form');
    form?.querySelector<HTMLElement>('input, textarea, select')?.focus();
    form?.scrollIntoView({ block: 'nearest' });
  }, []);
  const buttons = (
    <>
      <Button kind={kind ?? 'primary'} type="submit" disabled={!isReady}>
        {submit}
      </Button>
      <Button kind="quiet" onClick={onLeave}>
        {texts.parts.cancel}
      </Button>
    </>
  );
  return (
    <AnswerForm label={title} onSubmit={onSubmit} buttons={buttons}>
      <h3 ref={start}>{title}</h3>
      {children}
    </AnswerForm>
  );
}
