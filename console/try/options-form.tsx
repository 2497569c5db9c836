import { useId } from 'preact/hooks';
import { caller } from '../data/identity';
import { Check } from '../parts/fields';
import { tryTexts } from '../texts/try';
import type { DraftField, DraftProblems, StartDraft } from './request';

interface OptionsFormProps {
  readonly draft: StartDraft;
  readonly onDraft: (draft: StartDraft) => void;
  readonly problems: DraftProblems;
  readonly isChat: boolean;
}

const fields = [
  ...(['id', 'tags', 'by', 'deadline', 'startDelay', 'model'] as const),
  ...(['temperature', 'maxOutputTokens', 'settings', 'values', 'options'] as const),
];
type TextField = (typeof fields)[number];

export function OptionsForm({ draft, onDraft, problems, isChat }: OptionsFormProps) {
  const check = (name: 'isWhole' | 'runPendingToolCalls') => (
    <Check label={tryTexts[name]} checked={draft[name]} onCheck={(checked) => onDraft({ ...draft, [name]: checked })} />
  );
  return (
    <details class="options" open={Object.keys(problems).length > 0 ? true : undefined}>
      <summary>{tryTexts.options}</summary>
      <div class="form stack">
        {fields
          .filter((name) => !isChat || !['id', 'deadline', 'startDelay'].includes(name))
          .filter((name) => name !== 'by' || caller.value === undefined)
          .map((name) => (
            <OptionField key={name} name={name} {...{ draft, onDraft, problems }} />
          ))}
        {check('isWhole')}
        {!isChat && check('runPendingToolCalls')}
      </div>
    </details>
  );
}

const inJson: readonly TextField[] = ['values', 'settings', 'options'];

function OptionField({ name, draft, onDraft, problems }: Omit<OptionsFormProps, 'isChat'> & { readonly name: TextField }) {
  const id = useId();
  const { label, hint } = tryTexts.fields[name];
  const problem = name in problems ? problems[name as DraftField] : undefined;
  const change = (value: string): void => onDraft({ ...draft, [name]: value });
  const common = {
    id,
    value: draft[name],
    autocomplete: 'off' as const,
    spellcheck: false,
    'aria-describedby': `${id}-hint`,
    'aria-invalid': problem !== undefined,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) => change(currentTarget.value),
  };
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {inJson.includes(name) ? <textarea rows={2} class="mono" {...common} /> : <input {...common} />}
      <small id={`${id}-hint`} class={problem === undefined ? 'muted' : 'misfit'}>
        {problem === undefined ? hint : tryTexts.problems[problem]}
      </small>
    </div>
  );
}
