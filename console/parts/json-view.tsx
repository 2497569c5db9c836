import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { texts } from '../texts';
import { Said } from './said';
import type { ComponentChildren } from 'preact';
import { visibleText } from './plain-text';

const mostItems = 200;

export function JsonView({ value, depth = 0 }: { readonly value: Json | undefined; readonly depth?: number }) {
  if (value === undefined || value === null || typeof value === 'boolean' || typeof value === 'number')
    return <span class="mono">{String(value)}</span>;
  if (typeof value === 'string') return value === '' ? <span class="muted">{texts.parts.empty}</span> : <Said text={value} />;
  const isList = Array.isArray(value);
  const entries = isList ? value.map((item, at) => [String(at + 1), item as Json] as const) : isRecord(value) ? Object.entries(value) : [];
  const size = isList ? texts.parts.items(entries.length) : texts.parts.fields(entries.length);
  if (entries.length === 0) return <span class="muted">{size}</span>;
  const shown = entries.slice(0, mostItems).map(([name, item]) => {
    return [name.slice(0, 200), <JsonView value={item} depth={depth + 1} />] as const;
  });
  const fields = <Facts class="json" facts={shown} />;
  if (depth < 2 && entries.length <= 20) return fields;
  return (
    <details class="json-fold">
      <summary>{size}</summary>
      {fields}
      {entries.length > mostItems && <Said isMono text={JSON.stringify(value, null, 2)} />}
    </details>
  );
}

interface FactsProps {
  /** A fact without content is left out. */
  readonly facts: readonly (readonly [name: string, shown: ComponentChildren])[];
  readonly class?: string;
}

export function Facts({ facts, ...rest }: FactsProps) {
  const known = facts.filter(([, shown]) => shown !== undefined && shown !== false && shown !== '');
  if (known.length === 0) return null;
  return (
    <dl class="facts" {...rest}>
      {known.map(([name, shown]) => (
        <div key={name}>
          <dt>
            <bdi>{visibleText(name)}</bdi>
          </dt>
          <dd>{typeof shown === 'string' ? <bdi>{visibleText(shown)}</bdi> : shown}</dd>
        </div>
      ))}
    </dl>
  );
}
