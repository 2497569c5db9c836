import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { texts } from '../texts';
import type { SchemaShape } from './schema-shape';

export interface ValueProps {
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

interface ControlFieldProps extends ValueProps {
  readonly common: object;
}

/** An unfinished number is a text, which the schema refuses. */
export function NumberField({ shape, common, value, onChange }: ControlFieldProps & { readonly shape: SchemaShape }) {
  const [typed, setTyped] = useState(textOf(value));
  useEffect(() => {
    if (numberIn(typed) !== value) setTyped(textOf(value));
  }, [value]);
  return (
    <input
      {...common}
      inputMode={shape.isWhole ? 'numeric' : 'decimal'}
      autocomplete="off"
      value={typed}
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(numberIn(currentTarget.value));
      }}
    />
  );
}

function numberIn(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : text;
}

/** Broken JSON blocks the form. */
export function JsonField({ common, value, onChange }: ControlFieldProps) {
  const [typed, setTyped] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const field = useRef<HTMLTextAreaElement>(null);
  const change = (text: string): void => {
    setTyped(text);
    const parsed = jsonIn(text);
    field.current?.setCustomValidity(parsed === 'broken' ? texts.form.notJson : '');
    if (parsed !== 'broken') onChange(parsed.value);
  };
  return (
    <textarea
      {...common}
      ref={field}
      class="mono"
      rows={Math.min(12, typed.split('\n').length + 1)}
      spellcheck={false}
      placeholder={texts.form.jsonHint}
      value={typed}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}

interface LabelledJsonProps extends ValueProps {
  readonly label: string;
  readonly hint?: string;
}

export function LabelledJson({ label, hint, ...control }: LabelledJsonProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <JsonField common={{ id }} {...control} />
      {hint !== undefined && <small class="muted">{hint}</small>}
    </div>
  );
}

function jsonIn(text: string): { readonly value: Json | undefined } | 'broken' {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return /^\s*[{["]/.test(text) ? 'broken' : { value: text };
  }
}

/** A larger file must be stored elsewhere, and the answer has the address. */
const mostBytes = 100_000;

export function FileField({ value, onChange }: ValueProps) {
  const file = isRecord(value) ? value : {};
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const text = (name: string): string => (typeof file[name] === 'string' ? file[name] : '');
  const change = (changes: Readonly<Record<string, string>>): void => {
    const next = { name: text('name'), mediaType: text('mediaType'), url: text('url'), ...changes };
    onChange(Object.values(next).every((part) => part === '') ? undefined : next);
  };
  const choose = (chosen: File | undefined): void => {
    if (chosen === undefined) return;
    const known = { name: chosen.name, mediaType: chosen.type === '' ? 'application/octet-stream' : chosen.type };
    if (chosen.size > mostBytes) {
      setProblem(texts.form.fileTooLarge);
      change({ ...known, url: '' });
      return;
    }
    setProblem(undefined);
    const reader = new FileReader();
    reader.addEventListener('load', () => change({ ...known, url: typeof reader.result === 'string' ? reader.result : '' }));
    reader.readAsDataURL(chosen);
  };
  const part = (name: string, label: string) => (
    <input
      aria-label={label}
      placeholder={label}
      value={text(name)}
      onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
    />
  );
  const isInline = text('url').startsWith('data:');
  return (
    <div class="stack">
      <input type="file" aria-label={texts.form.chooseFile} onChange={({ currentTarget }) => choose(currentTarget.files?.[0])} />
      {isInline ? (
        <p class="muted">{texts.form.fileInline(text('name'), text('mediaType'))}</p>
      ) : (
        <>
          {problem !== undefined && <small class="misfit">{problem}</small>}
          {part('url', texts.form.fileUrl)}
          <div class="file-names flow">
            {part('name', texts.form.fileName)}
            {part('mediaType', texts.form.fileType)}
          </div>
        </>
      )}
    </div>
  );
}

export function textOf(value: Json | undefined): string {
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}
