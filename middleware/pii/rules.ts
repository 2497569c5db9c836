import { messageOf } from '../../contract/errors';
import { cut, shown } from '../../contract/shown';
import { checkOptions, filled, flag, form, oneOf, record, refusing, required, worded, isListOf } from '../../contract/check';
import type { Kind } from './detectors';
import { Pattern } from './pattern-search';

/** `block`: the call fails. `hash`: equal values stay equal. */
export type Strategy = 'block' | 'redact' | 'mask' | 'hash';

/** `input`: words of users. `output`: answers of models. `tools`: results. `arguments`: tool calls. */
export type PiiPlace = 'input' | 'output' | 'tools' | 'arguments';

export interface CustomPattern {
  /** A regular expression without look-around and back-references. */
  readonly pattern: string;
  readonly strategy: Strategy;
  readonly ignoreCase?: boolean;
}

export type PiiOptions = { readonly [K in Kind]?: Strategy } & {
  /** Only for agents with several. */
  readonly name?: string;
  readonly custom?: Readonly<Record<string, CustomPattern>>;
  /** Default: input, output and tools. */
  readonly applyTo?: readonly PiiPlace[];
};

export interface Rule {
  readonly what: string;
  readonly kind: Kind | 'custom';
  readonly strategy: Strategy;
  readonly pattern?: string;
  readonly ignoreCase?: true;
}

export interface PiiRules {
  readonly rules: readonly Rule[];
  readonly places: readonly PiiPlace[];
}

const kinds: Readonly<Record<Kind, string>> = { email: 'email', creditCard: 'credit card', ip: 'IP address', url: 'URL' };
const places = ['input', 'output', 'tools', 'arguments'];
const strategy = oneOf('block', 'redact', 'mask', 'hash');
const isPlaces = (value: unknown): boolean =>
  isListOf(value, (place) => places.includes(place as string)) && (value as readonly unknown[]).length > 0;

export function checkedRules(options: PiiOptions): { readonly name: string } & PiiRules {
  const fields = checkOptions<PiiOptions>('pii', options, {
    name: filled,
    email: strategy,
    creditCard: strategy,
    ip: strategy,
    url: strategy,
    custom: worded(record, 'an object such as { ticket: { pattern: "TCK-[0-9]{6}", strategy: "redact" } }'),
    applyTo: form(isPlaces, `an array of at least one of ${places.join(', ')}`),
  });
  const { name = 'pii', custom = {}, applyTo = ['input', 'output', 'tools'] } = fields;
  const known = (Object.keys(kinds) as Kind[]).flatMap((kind): readonly Rule[] => {
    const chosen = fields[kind];
    return chosen === undefined ? [] : [{ what: kinds[kind], kind, strategy: chosen }];
  });
  const rules = [...known, ...Object.entries(custom).map(([what, pattern]) => customRule(what, pattern))];
  if (rules.length === 0) refusing('pii')('say what to look for: email, creditCard, ip, url or custom.');
  return { name, rules, places: applyTo };
}

function customRule(what: string, given: CustomPattern): Rule {
  const label = `pii, custom "${cut(what)}"`;
  if (!/^[\w -]{1,40}$/.test(what)) refusing(label)('what a pattern is called has 1 to 40 letters, digits, blanks, _ or -.');
  checkOptions(label, given, {
    pattern: required(worded(filled, 'a string that is not blank; of a regular expression its source')),
    strategy: required(strategy),
    ignoreCase: flag,
  });
  const { pattern, strategy: chosen, ignoreCase } = given;
  try {
    new Pattern(pattern, ignoreCase === true);
  } catch (error) {
    refusing(label)(`its pattern ${shown(pattern)} cannot be looked for: ${cut(messageOf(error))}.`);
  }
  return { what, kind: 'custom', strategy: chosen, pattern, ...(ignoreCase === true ? { ignoreCase } : {}) };
}
