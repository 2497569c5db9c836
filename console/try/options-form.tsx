import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { tryTexts } from '../texts/try';
import type { DraftField, DraftProblems, StartDraft } from './request';

interface OptionsFormProps {
  readonly draft: StartDraft;
  readonly onDraft: (draft: StartDraft) => void;
  readonly problems: DraftProblems;
  readonly isChat: boolean;
}

type TextField = Exclude<keyof StartDraft, 'isWhole' | 'runPendingToolCalls'>;

/** What a start may say besides its input. */
export function OptionsForm({ draft, onDraft, problems, isChat }: OptionsFormProps): JSX.Element {
  const field = (name: TextField): JSX.Element => (
    <OptionField
      key={name}
      name={name}
      value={draft[name]}
      problem={name in problems ? problems[name as DraftField] : undefined}
      onValue={(value) => onDraft({ ...draft, [name]: value })}
    />
  );
  return (
    <details class="options" open={Object.keys(problems).length > 0 ? true : undefined}>
      <summary>{tryTexts.options}</summary>
      <div class="form">
        {!isChat && field('id')}
        {field('tags')}
        {field('by')}
        {!isChat && field('deadline')}
        {!isChat && field('startDelay')}
        {field('model')}
        {field('temperature')}
        {field('maxOutputTokens')}
        {field('settings')}
        {field('values')}
        {field('options')}
        <label class="check">
          <input
            type="checkbox"
            checked={draft.isWhole}
            onChange={({ currentTarget }) => onDraft({ ...draft, isWhole: currentTarget.checked })}
          />
          <span>{tryTexts.isWhole}</span>
        </label>
        {!isChat && (
          <label class="check">
            <input
              type="checkbox"
              checked={draft.runPendingToolCalls}
              onChange={({ currentTarget }) => onDraft({ ...draft, runPendingToolCalls: currentTarget.checked })}
            />
            <span>{tryTexts.runPendingToolCalls}</span>
          </label>
        )}
      </div>
    </details>
  );
}

const inJson: readonly TextField[] = ['values', 'settings', 'options'];

function OptionField({
  name,
  value,
  problem,
  onValue,
}: {
  readonly name: TextField;
  readonly value: string;
  readonly problem: DraftProblems[DraftField] | undefined;
  readonly onValue: (value: string) => void;
}): JSX.Element {
  const id = useId();
  const { label, hint } = tryTexts.fields[name];
  const common = {
    id,
    value,
    autocomplete: 'off' as const,
    spellcheck: false,
    'aria-describedby': `${id}-hint`,
    'aria-invalid': problem !== undefined,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) => onValue(currentTarget.value),
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
