import type { Json } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { otherKeys, otherNames } from './agent-names';
import { comparable } from './comparable';
import type { Played } from './play';
import { faultsOf, lead } from './play';
import type { Said, Script } from './script';
import { tableInMemory } from './tables';

/** Variants that must have the same result in memory. */
export const variants = {
  'without going on as new': ({ bordersAt: _, killsAt, ...script }: Script): Script => ({
    ...script,
    borders: false,
    ...(killsAt === undefined ? {} : { killsAt: [] }),
  }),
  'going on as new at every event': (script: Script): Script => ({
    ...script,
    bordersAt: Array.from({ length: 200 }, (_, number) => number + 1),
  }),
  "calling tools by the tools' own names": ({ said, parts, ...script }: Script): Script => ({
    ...script,
    said: said.map(byOwnNames),
    ...(parts === undefined
      ? {}
      : { parts: Object.fromEntries(Object.entries(parts).map(([name, speech]) => [name, speech.map(byOwnNames)])) }),
  }),
} as const;

const ownNames = new Map(Object.entries(otherNames).map(([own, other]) => [other, own]));
const ownKeys = new Map(Object.entries(otherKeys).map(([own, other]) => [other, own]));

function byOwnNames(said: Said): Said {
  return 'calls' in said ? { ...said, calls: said.calls.map((call) => withOwnNames(call) as typeof call) } : said;
}

function withOwnNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOwnNames);
  if (typeof value === 'string')
    return value
      .replace(/(?<=['`])\w+(?=['`])/g, (name) => ownNames.get(name) ?? name)
      .replace(/(?<=")\w+(?=":)/g, (key) => ownKeys.get(key) ?? key);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      ownKeys.get(key) ?? key,
      key === 'name' && typeof inner === 'string' ? (ownNames.get(inner) ?? inner) : withOwnNames(inner),
    ]),
  );
}

export type Variant = keyof typeof variants;
export const variantNames = Object.keys(variants) as readonly Variant[];

let runs = 0;

export async function variantDiffers(given: Script, variant: Variant): Promise<string> {
  const { retried: _, ...once } = given;
  const script = variant === 'going on as new at every event' ? once : given;
  const id = `variant-${runs++}`;
  const plain = await lead(script, id, tableInMemory);
  const other = await lead(variants[variant](script), id, tableInMemory);
  const fault = faultsOf(plain)[0] ?? faultsOf(other)[0];
  const [here, there] = [linesOf(plain), linesOf(other)];
  const line = here.findIndex((text, position) => text !== there[position]);
  if (line === -1 && here.length === there.length) return fault ?? '';
  return `${here[line]}\n  and ${variant} ${there[line]}`;
}

function withOwnTool(line: Json): Json {
  const event = Array.isArray(line) ? (line as readonly Json[])[1] : undefined;
  const { type, tool, error } = (event ?? {}) as {
    readonly type?: string;
    readonly tool?: string;
    readonly error?: { readonly code?: string };
  };
  if (type !== 'tool-end' || tool === undefined || error?.code !== 'tool-not-found') return line;
  return ['event', { ...(event as object), tool: ownNames.get(tool) ?? tool }];
}

function linesOf(played: Played): readonly string[] {
  return comparable({
    ...played,
    moves: played.moves.map(({ standing, acts }) => ({ standing, acts: acts.filter((act) => act.do !== 'border') })),
  }).map((line) => canonicalJson(withOwnTool(withOwnNames(JSON.parse(line)) as Json)));
}
