import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { texts } from '../texts';
import { FileField, JsonField, NumberField } from './form-controls';
import { Icon } from './icon';
import { visibleText } from './plain-text';
import type { SchemaShape } from './schema-shape';
import { initialValue, shapeOf } from './schema-shape';

interface SchemaFormProps {
  readonly schema: Json | undefined;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  /** What is wrong. Each begins with the path of its place. */
  readonly misfits?: readonly string[];
  /** The name of a value that is no object. */
  readonly label?: string;
}

/** A form made from a JSON Schema. What it cannot draw is a field for JSON. */
export function SchemaForm({ schema, value, onChange, misfits = [], label = texts.form.answer }: SchemaFormProps): JSX.Element {
  const root = schema ?? {};
  return <SchemaField name="" path="" label={label} schema={root} {...{ root, value, onChange, misfits }} isRequired isOuter />;
}

interface SchemaFieldProps {
  readonly name: string;
  readonly path: string;
  readonly schema: Json;
  readonly root: Json;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  readonly misfits: readonly string[];
  readonly isRequired: boolean;
  readonly label?: string;
  readonly isOuter?: boolean;
}

function SchemaField(props: SchemaFieldProps): JSX.Element {
  const { name, path, schema, root, value, onChange, misfits, isRequired, label, isOuter = false } = props;
  const shape = shapeOf(schema, name, root);
  const id = useId();
  const shown = visibleText(shape.label !== '' ? shape.label : (label ?? name));
  if (shape.kind === 'object') {
    const fields = <ObjectFields shape={shape} path={path} root={root} value={value} onChange={onChange} misfits={misfits} />;
    if (isOuter) return <div class="form">{fields}</div>;
    return (
      <fieldset class="fieldset">
        <legend>{shown}</legend>
        {shape.help !== undefined && <small class="muted">{visibleText(shape.help)}</small>}
        {fields}
      </fieldset>
    );
  }
  const misfit = misfits.find((one) => one.startsWith(`${path === '' ? 'it' : path} `) || one.startsWith(`${path}.`));
  const isWrong = misfit !== undefined;
  const describedBy = `${shape.help === undefined ? '' : `${id}-help`} ${isWrong ? `${id}-misfit` : ''}`.trim();
  const control = { id, describedBy: describedBy === '' ? undefined : describedBy, isWrong, isRequired };
  const isGroup = shape.kind === 'list' || shape.kind === 'choices' || shape.kind === 'file' || isRadio(shape);
  const content = (
    <>
      <Control {...{ shape, control, root, path, value, onChange, misfits }} />
      {shape.help !== undefined && (
        <small id={`${id}-help`} class="muted">
          {visibleText(shape.help)}
        </small>
      )}
      {isWrong && (
        <small id={`${id}-misfit`} class="misfit">
          {visibleText(misfit)}
        </small>
      )}
    </>
  );
  const optional = isRequired ? null : <span class="optional"> {texts.form.optional}</span>;
  if (shape.kind === 'boolean')
    return (
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            id={id}
            checked={value === true}
            aria-describedby={control.describedBy}
            onChange={({ currentTarget }) => onChange(currentTarget.checked)}
          />
          <span>{shown}</span>
        </label>
        {shape.help !== undefined && (
          <small id={`${id}-help`} class="muted">
            {visibleText(shape.help)}
          </small>
        )}
      </div>
    );
  if (isGroup)
    return (
      <fieldset class="fieldset plain">
        <legend>
          {shown}
          {optional}
        </legend>
        {content}
      </fieldset>
    );
  return (
    <div class="field">
      <label for={id}>
        {shown}
        {optional}
      </label>
      {content}
    </div>
  );
}

interface ControlProps {
  readonly shape: SchemaShape;
  readonly control: {
    readonly id: string;
    readonly describedBy: string | undefined;
    readonly isWrong: boolean;
    readonly isRequired: boolean;
  };
  readonly root: Json;
  readonly path: string;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
  readonly misfits: readonly string[];
}

function Control({ shape, control, root, path, value, onChange, misfits }: ControlProps): JSX.Element {
  const { id, describedBy, isWrong, isRequired } = control;
  const common = { id, 'aria-describedby': describedBy, 'aria-invalid': isWrong, 'aria-required': isRequired };
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  const onText = (typed: string): void => onChange(typed === '' ? undefined : typed);
  switch (shape.kind) {
    case 'number':
      return <NumberField shape={shape} common={common} value={value} onChange={onChange} />;
    case 'choice':
      return isRadio(shape) ? (
        <Radios {...{ shape, id, value, onChange }} />
      ) : (
        <Select {...{ shape, common, value, onChange, isRequired }} />
      );
    case 'choices':
      return <Checks {...{ shape, value, onChange }} />;
    case 'list':
      return <ListItems {...{ shape, root, path, value, onChange, misfits }} />;
    case 'file':
      return <FileField value={value} onChange={onChange} />;
    case 'date':
      return <input type="date" {...common} value={text} onInput={({ currentTarget }) => onText(currentTarget.value)} />;
    case 'text':
    case 'time':
      return shape.isLong || text.length > 80 || text.includes('\n') ? (
        <textarea rows={4} {...common} value={text} onInput={({ currentTarget }) => onText(currentTarget.value)} />
      ) : (
        <>
          <input {...common} value={text} autocomplete="off" onInput={({ currentTarget }) => onText(currentTarget.value)} />
          {shape.examples !== undefined && <Proposals examples={shape.examples} onChoose={onText} chosen={text} />}
        </>
      );
    default:
      return <JsonField common={common} value={value} onChange={onChange} />;
  }
}

function ObjectFields({ shape, path, root, value, onChange, misfits }: Omit<ControlProps, 'control'>): JSX.Element {
  const object = isRecord(value) ? value : {};
  const known = new Set(shape.fields.map(({ name }) => name));
  const others = Object.entries(object).filter(([name]) => !known.has(name));
  const change = (name: string, next: Json | undefined): void => {
    const rest = Object.entries(object).filter(([key]) => key !== name);
    const at = Object.keys(object).indexOf(name);
    if (next !== undefined) rest.splice(at < 0 ? rest.length : at, 0, [name, next]);
    onChange(Object.fromEntries(rest));
  };
  return (
    <>
      {shape.fields.map(({ name, schema, isRequired }) => (
        <SchemaField
          key={name}
          path={path === '' ? name : `${path}.${name}`}
          value={Object.hasOwn(object, name) ? object[name] : undefined}
          onChange={(next) => change(name, next)}
          {...{ name, schema, root, misfits, isRequired }}
        />
      ))}
      {others.map(([name, item]) => (
        <SchemaField
          key={name}
          path={path === '' ? name : `${path}.${name}`}
          schema={schemaLike(item)}
          value={item}
          onChange={(next) => change(name, next)}
          isRequired={false}
          {...{ name, root, misfits }}
        />
      ))}
    </>
  );
}

/** A value for which there is no schema is changed as what it is. */
export function schemaLike(value: Json | undefined): Json {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return { type: typeof value };
  if (isRecord(value)) {
    const properties = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, schemaLike(item as Json)]));
    return { type: 'object', properties, required: Object.keys(properties) };
  }
  return {};
}

function ListItems({ shape, root, path, value, onChange, misfits }: Omit<ControlProps, 'control'>): JSX.Element {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [];
  const schema = shape.items ?? {};
  return (
    <div class="list-items">
      {items.map((item, at) => (
        <div class="list-item" key={at}>
          <SchemaField
            name={String(at)}
            label={String(at + 1)}
            path={path === '' ? String(at) : `${path}.${at}`}
            value={item}
            onChange={(next) => onChange(items.map((one, index) => (index === at ? (next ?? null) : one)))}
            isRequired
            {...{ schema, root, misfits }}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={texts.form.removeItem(at + 1)}
            title={texts.form.removeItem(at + 1)}
            onClick={() => onChange(items.filter((_, index) => index !== at))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button type="button" class="button" onClick={() => onChange([...items, initialValue(schema, root) ?? ''])}>
        {texts.form.addItem}
      </button>
    </div>
  );
}

const mostRadios = 6;

function isRadio({ kind, choices = [] }: SchemaShape): boolean {
  return kind === 'choice' && choices.length <= mostRadios;
}

interface ChoiceProps {
  readonly shape: SchemaShape;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

function Radios({ shape: { choices = [] }, id, value, onChange }: ChoiceProps & { readonly id: string }): JSX.Element {
  return (
    <div class="choices">
      {choices.map(({ value: choice, label }) => (
        <label class="check" key={label}>
          <input type="radio" name={id} checked={isSame(choice, value)} onChange={() => onChange(choice)} />
          <span>{visibleText(label)}</span>
        </label>
      ))}
    </div>
  );
}

function Checks({ shape: { choices = [] }, value, onChange }: ChoiceProps): JSX.Element {
  const chosen = Array.isArray(value) ? (value as readonly Json[]) : [];
  return (
    <div class="choices">
      {choices.map(({ value: choice, label }) => {
        const isChosen = chosen.some((one) => isSame(one, choice));
        const rest = chosen.filter((one) => !isSame(one, choice));
        return (
          <label class="check" key={label}>
            <input type="checkbox" checked={isChosen} onChange={() => onChange(isChosen ? rest : [...chosen, choice])} />
            <span>{visibleText(label)}</span>
          </label>
        );
      })}
    </div>
  );
}

function Select(props: ChoiceProps & { readonly common: object; readonly isRequired: boolean }): JSX.Element {
  const { shape, value, onChange, common, isRequired } = props;
  const choices = shape.choices ?? [];
  const at = choices.findIndex(({ value: choice }) => isSame(choice, value));
  return (
    <select {...common} value={String(at)} onChange={({ currentTarget }) => onChange(choices[Number(currentTarget.value)]?.value)}>
      <option value="-1" disabled={isRequired}>
        {texts.form.choose}
      </option>
      {choices.map(({ label }, index) => (
        <option key={label} value={String(index)}>
          {visibleText(label)}
        </option>
      ))}
    </select>
  );
}

interface ProposalsProps {
  readonly examples: readonly string[];
  readonly chosen: string;
  readonly onChoose: (text: string) => void;
}

function Proposals({ examples, chosen, onChoose }: ProposalsProps): JSX.Element {
  return (
    <div class="proposals" role="group" aria-label={texts.form.proposals}>
      {examples.map((example) => (
        <button key={example} type="button" class="button" aria-pressed={example === chosen} onClick={() => onChoose(example)}>
          {visibleText(example)}
        </button>
      ))}
    </div>
  );
}

function isSame(one: Json, other: Json | undefined): boolean {
  return one === other || (other !== undefined && JSON.stringify(one) === JSON.stringify(other));
}
