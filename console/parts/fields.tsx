import type { ComponentChildren, JSX } from 'preact';

type Attributes = JSX.IntrinsicElements['input'] & JSX.IntrinsicElements['textarea'];

interface TextFieldProps extends Pick<Attributes, 'maxLength' | 'required' | 'autofocus' | 'autocomplete' | 'spellcheck' | 'onKeyDown'> {
  readonly label: ComponentChildren;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly hint?: string;
  /** Absent: a single line. */
  readonly rows?: number;
}

export function TextField({ label, onText, hint, rows, ...attributes }: TextFieldProps) {
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }): void =>
    onText(currentTarget.value);
  return (
    <label class="field">
      {typeof label === 'string' ? <span>{label}</span> : label}
      {rows === undefined ? (
        <input autocomplete="off" onInput={onInput} {...attributes} />
      ) : (
        <textarea rows={rows} onInput={onInput} {...attributes} />
      )}
      {hint !== undefined && <small class="muted">{hint}</small>}
    </label>
  );
}

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onCheck: (checked: boolean) => void;
  /** The group of a radio button. Absent: a checkbox. */
  readonly group?: string;
  readonly describedBy?: string | undefined;
}

export function Check({ label, checked, onCheck, group, describedBy }: CheckProps) {
  return (
    <label class="check">
      <input
        type={group === undefined ? 'checkbox' : 'radio'}
        name={group}
        checked={checked}
        aria-describedby={describedBy}
        onChange={({ currentTarget }) => onCheck(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

export function SearchField({ label, value, onText }: Pick<TextFieldProps, 'value' | 'onText'> & { readonly label: string }) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  );
}

interface SelectProps<Value> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, shown: string])[];
  readonly onChoose: (value: Value) => void;
  readonly class?: string | undefined;
}

export function Select<Value extends string>({ label, value, options, onChoose, ...rest }: SelectProps<Value>) {
  return (
    <select
      aria-label={label}
      title={label}
      value={value}
      onChange={({ currentTarget }) => onChoose(options.find(([one]) => one === currentTarget.value)?.[0] ?? value)}
      {...rest}
    >
      {options.map(([one, shown]) => (
        <option key={one} value={one}>
          {shown}
        </option>
      ))}
    </select>
  );
}

interface MessageFormProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
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
