import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { texts } from '../texts';
import { Button, IconButton } from './button';
import { Check } from './fields';
import type { ValueProps } from './form-controls';
import { FileField, JsonField, NumberField, textOf } from './form-controls';
import { visibleText } from './plain-text';
import type { SchemaShape } from './schema-shape';
import { initialValue, shapeOf } from './schema-shape';

interface SchemaFormProps extends ValueProps {
  readonly schema: Json | undefined;
  /** Each problem begins with a path. */
  readonly misfits?: readonly string[];
  readonly label?: string;
}

export function SchemaForm({ schema = {}, value, onChange, misfits = [], label = texts.form.answer }: SchemaFormProps) {
  const form = { root: schema, misfits };
  const shape = shapeOf(schema, '', schema);
  if (shape.kind !== 'object') return <SchemaField {...{ form, schema, label, value, onChange }} path="" isRequired />;
  return (
    <div class="form stack">
      <ObjectFields {...{ form, shape, value, onChange }} path="" />
    </div>
  );
}

interface PartProps extends ValueProps {
  readonly form: {
    readonly root: Json;
    readonly misfits: readonly string[];
  };
  readonly path: string;
}

interface SchemaFieldProps extends PartProps {
  readonly schema: Json;
  readonly label: string;
  readonly isRequired: boolean;
}

function SchemaField({ schema, label, isRequired, ...part }: SchemaFieldProps) {
  const { form, path, value, onChange } = part;
  const shape = shapeOf(schema, label, form.root);
  const id = useId();
  const misfit = form.misfits.find((one) => one.startsWith(`${path === '' ? 'it' : path} `) || one.startsWith(`${path}.`));
  const [helpId, misfitId] = [shape.help !== undefined && `${id}-help`, misfit !== undefined && `${id}-misfit`];
  const help = shape.help !== undefined && (
    <small id={`${id}-help`} class="muted">
      {visibleText(shape.help)}
    </small>
  );
  const shown = visibleText(shape.label);
  if (shape.kind === 'object')
    return (
      <fieldset class="fieldset stack">
        <legend>{shown}</legend>
        {help}
        <ObjectFields shape={shape} {...part} />
      </fieldset>
    );
  if (shape.kind === 'boolean')
    return (
      <div class="field">
        <Check label={shown} checked={value === true} onCheck={onChange} describedBy={helpId || undefined} />
        {help}
      </div>
    );
  const common = {
    id,
    'aria-describedby': [helpId, misfitId].filter((one) => one !== false).join(' ') || undefined,
    'aria-invalid': misfit !== undefined,
    'aria-required': isRequired,
  };
  return (
    <Labelled id={id} isGroup={['list', 'choices', 'file'].includes(shape.kind) || isRadio(shape)} label={shown} isRequired={isRequired}>
      <Control shape={shape} common={common} {...part} />
      {help}
      {misfit !== undefined && (
        <small id={`${id}-misfit`} class="misfit">
          {visibleText(misfit)}
        </small>
      )}
    </Labelled>
  );
}

interface LabelledProps {
  readonly id: string;
  /** Whether the field has several controls. */
  readonly isGroup: boolean;
  readonly label: string;
  readonly isRequired: boolean;
  readonly children: ComponentChildren;
}

function Labelled({ id, isGroup, label, isRequired, children }: LabelledProps) {
  const name = (
    <>
      {label}
      {!isRequired && <span class="optional"> {texts.form.optional}</span>}
    </>
  );
  return isGroup ? (
    <fieldset class="fieldset stack plain">
      <legend>{name}</legend>
      {children}
    </fieldset>
  ) : (
    <div class="field">
      <label for={id}>{name}</label>
      {children}
    </div>
  );
}

interface ControlProps extends PartProps {
  readonly shape: SchemaShape;
  readonly common: { readonly id: string; readonly 'aria-required': boolean };
}

function Control({ shape, common, ...part }: ControlProps) {
  const { value, onChange } = part;
  const text = textOf(value);
  const onText = (typed: string): void => onChange(typed === '' ? undefined : typed);
  switch (shape.kind) {
    case 'number':
      return <NumberField {...{ shape, common, value, onChange }} />;
    case 'choice':
      return isRadio(shape) ? <Choices {...{ shape, common, value, onChange }} /> : <Selection {...{ shape, common, value, onChange }} />;
    case 'choices':
      return <Choices {...{ shape, common, value, onChange }} />;
    case 'list':
      return <ListItems schema={shape.items ?? {}} {...part} />;
    case 'file':
      return <FileField {...{ value, onChange }} />;
    case 'date':
      return <input type="date" {...common} value={text} onInput={({ currentTarget }) => onText(currentTarget.value)} />;
    case 'text':
    case 'time':
      return shape.isLong || text.length > 80 || text.includes('\n') ? (
        <textarea rows={4} {...common} value={text} onInput={({ currentTarget }) => onText(currentTarget.value)} />
      ) : (
        <>
          <input {...common} value={text} autocomplete="off" onInput={({ currentTarget }) => onText(currentTarget.value)} />
          <Proposals {...{ shape, value, onChange }} />
        </>
      );
    default:
      return <JsonField {...{ common, value, onChange }} />;
  }
}

function ObjectFields({ shape, path, value, onChange, form }: PartProps & { readonly shape: SchemaShape }) {
  const object = isRecord(value) ? (value as Readonly<Record<string, Json>>) : {};
  const others = Object.keys(object).filter((name) => shape.fields.every((field) => field.name !== name));
  const change = (name: string, next: Json | undefined): void => {
    const rest = Object.entries(object).filter(([key]) => key !== name);
    const at = Object.keys(object).indexOf(name);
    if (next !== undefined) rest.splice(at < 0 ? rest.length : at, 0, [name, next]);
    onChange(Object.fromEntries(rest));
  };
  return (
    <>
      {[...shape.fields, ...others.map((name) => ({ name, schema: schemaLike(object[name]), isRequired: false }))].map(
        ({ name, ...field }) => (
          <SchemaField
            key={name}
            label={name}
            form={form}
            path={path === '' ? name : `${path}.${name}`}
            value={Object.hasOwn(object, name) ? object[name] : undefined}
            onChange={(next) => change(name, next)}
            {...field}
          />
        ),
      )}
    </>
  );
}

/** The type of a value without a schema stays. */
export function schemaLike(value: Json | undefined): Json {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return { type: typeof value };
  if (isRecord(value)) {
    const properties = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, schemaLike(item as Json)]));
    return { type: 'object', properties, required: Object.keys(properties) };
  }
  return {};
}

function ListItems({ schema, path, value, onChange, form }: PartProps & { readonly schema: Json }) {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [];
  return (
    <div class="stack">
      {items.map((item, at) => (
        <div class="list-item" key={at}>
          <SchemaField
            label={String(at + 1)}
            path={path === '' ? String(at) : `${path}.${at}`}
            value={item}
            onChange={(next) => onChange(items.map((one, index) => (index === at ? (next ?? null) : one)))}
            isRequired
            {...{ schema, form }}
          />
          <IconButton
            label={texts.form.removeItem(at + 1)}
            icon="close"
            onClick={() => onChange(items.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <p>
        <Button onClick={() => onChange([...items, initialValue(schema, form.root) ?? ''])}>{texts.form.addItem}</Button>
      </p>
    </div>
  );
}

const mostRadios = 6;

function isRadio({ kind, choices = [] }: SchemaShape): boolean {
  return kind === 'choice' && choices.length <= mostRadios;
}

function Choices({ shape: { kind, choices = [] }, common: { id }, value, onChange }: Omit<ControlProps, 'form' | 'path'>) {
  const isSeveral = kind === 'choices';
  const several = Array.isArray(value) ? (value as readonly Json[]) : [];
  return (
    <div class="choices">
      {choices.map(({ value: choice, label }) => {
        const rest = several.filter((one) => !isSame(one, choice));
        const isChosen = isSeveral ? rest.length < several.length : isSame(choice, value);
        const next = !isSeveral ? choice : isChosen ? rest : [...several, choice];
        const group = isSeveral ? {} : { group: id };
        return <Check key={label} {...group} label={visibleText(label)} checked={isChosen} onCheck={() => onChange(next)} />;
      })}
    </div>
  );
}

function Selection({ shape: { choices = [] }, value, onChange, common }: Omit<ControlProps, 'form' | 'path'>) {
  const at = choices.findIndex(({ value: choice }) => isSame(choice, value));
  return (
    <select {...common} value={String(at)} onChange={({ currentTarget }) => onChange(choices[Number(currentTarget.value)]?.value)}>
      <option value="-1" disabled={common['aria-required']}>
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

function Proposals({ shape: { examples = [] }, value, onChange }: Pick<ControlProps, 'shape' | 'value' | 'onChange'>) {
  if (examples.length === 0) return null;
  return (
    <div class="proposals" role="group" aria-label={texts.form.proposals}>
      {examples.map((example) => (
        <Button key={example} pressed={example === value} onClick={() => onChange(example)}>
          {visibleText(example)}
        </Button>
      ))}
    </div>
  );
}

function isSame(one: Json, other: Json | undefined): boolean {
  return one === other || (other !== undefined && JSON.stringify(one) === JSON.stringify(other));
}
