import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button';
import { texts } from '../texts';
import { leaveForm } from './drafts';

interface AnswerFormProps {
  readonly label?: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
  readonly buttons: ComponentChildren;
}

export function AnswerForm({ label = texts.form.answer, onSubmit, children, buttons }: AnswerFormProps) {
  return (
    <form
      class="decision-form form stack"
      id="answer-form"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <div class="actions start flow wrap">{buttons}</div>
    </form>
  );
}

interface DecisionFormProps extends Pick<AnswerFormProps, 'onSubmit' | 'children'> {
  readonly title: string;
  readonly submit?: string;
  readonly kind?: 'danger';
  readonly isReady?: boolean;
  readonly id: string;
}

export function DecisionForm({ title, submit = title, kind, isReady = true, id, onSubmit, children }: DecisionFormProps) {
  const start = useRef<HTMLHeadingElement>(null);
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
      <Button kind="quiet" onClick={() => leaveForm(id)}>
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
