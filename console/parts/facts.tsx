import type { ComponentChildren } from 'preact';
import { visibleText } from './plain-text';

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
