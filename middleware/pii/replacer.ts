import { HoldfastError } from '../../contract/errors';
import { sha256 } from '../../contract/sha256';
import { detectors } from './detectors';
import type { Finder } from './finders';
import { CardFinder, RunFinder } from './finders';
import { Pattern } from './pattern-search';
import type { Rule } from './rules';

export interface RuleFinder {
  readonly rule: Rule;
  readonly finder: Finder;
}

export class Replacer {
  private readonly makers: readonly { readonly rule: Rule; readonly make: (position: number) => Finder }[];

  constructor(
    rules: readonly Rule[],
    private readonly source: string,
  ) {
    this.makers = rules.map((rule) => ({ rule, make: finderFor(rule) }));
  }

  finders(position: number): readonly RuleFinder[] {
    return this.makers.map(({ rule, make }) => ({ rule, finder: make(position) }));
  }

  instead(value: string, { what, kind, strategy }: Rule): string {
    switch (strategy) {
      case 'block':
        throw new HoldfastError('pii-found', `There is data of the kind "${what}" in ${this.source}, which the agent does not let pass.`);
      case 'redact':
        return `[${what} removed]`;
      case 'hash':
        return `[${what} ${sha256(value).slice(0, 12)}]`;
      case 'mask':
        return masked(value, kind);
    }
  }
}

function finderFor({ kind, pattern = '', ignoreCase }: Rule): (position: number) => Finder {
  if (kind === 'custom') {
    const own = new Pattern(pattern, ignoreCase === true);
    return (position) => own.finder(position);
  }
  const Runs = kind === 'creditCard' ? CardFinder : RunFinder;
  return (position) => new Runs(detectors[kind], position);
}

function masked(value: string, kind: Rule['kind']): string {
  switch (kind) {
    case 'email':
      return `${value[0] ?? ''}***@***${value.slice(value.lastIndexOf('.'))}`;
    case 'creditCard':
      return `****-****-****-${value.replace(/[^0-9]/g, '').slice(-4)}`;
    case 'ip':
      return value.includes(':') ? '****:****' : `***.***.***.${value.slice(value.lastIndexOf('.') + 1)}`;
    case 'url':
      return value.includes('://') ? `${value.slice(0, value.indexOf('://'))}://***` : 'www.***';
    case 'custom':
      return value.length > 8 ? `****${value.slice(-4)}` : '****';
  }
}
