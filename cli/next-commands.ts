import { externalCallIn } from '../contract/external-calls';
import type { Interrupt } from '../contract/interrupts';
import { misfitOf } from '../contract/interrupts';
import type { Json } from '../contract/messages/messages';
import { commandLine } from './shell-words';

/** The commands by which somebody answers later. They can be pasted as they are; what an answer says is for the person to write. */
export function commandsFor(runId: string, interrupt: Interrupt, flags: readonly string[], by?: string): readonly string[] {
  const { id, kind } = interrupt;
  const who = whoOf(interrupt, by);
  const role = interrupt.by === undefined ? interrupt.roles?.[0] : undefined;
  const rest = [...(who === undefined ? [] : ['--by', who]), ...(role === undefined ? [] : ['--role', role]), ...flags];
  if (kind === 'approval') return ['approve', 'reject'].map((command) => commandLine(command, runId, id, ...rest));
  const answer = (value: Json): string => commandLine('answer', runId, id, JSON.stringify(value), ...rest);
  if (kind === 'in-doubt')
    return [
      `${answer({ happened: true, result: ownWords })}  # it took effect, with this result`,
      `${answer({ happened: false })}  # it did not: it is called again`,
    ];
  if (externalCallIn(interrupt) !== undefined)
    return [`${answer({ output: ownWords })}  # the result of the call`, `${answer({ error: ownWords })}  # why there is none`];
  return [answer(exampleFor(interrupt))];
}

/** Who asked for the hint, when they may answer; else the first who may. */
function whoOf(interrupt: Interrupt, by: string | undefined): string | undefined {
  const { by: may } = interrupt;
  if (may === undefined) return by ?? (interrupt.notBy === undefined ? undefined : 'your-name');
  return by !== undefined && may.includes(by) ? by : may[0];
}

/** An answer of the form that is asked for. Where none is found, a text that says what it is. */
function exampleFor(interrupt: Interrupt): Json {
  const example = interrupt.kind === 'approval' ? undefined : exampleOf(interrupt.answerSchema, 0);
  return example === undefined || misfitOf(interrupt, example) !== undefined ? ownWords : example;
}

const ownWords = 'your answer';
const deepest = 4;

function exampleOf(schema: Json | undefined, depth: number): Json | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || depth > deepest) return undefined;
  const { type, enum: choices, const: only, default: usual, properties, required, items, minimum, minItems } = schema as SchemaParts;
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  if (Array.isArray(choices)) return choices[0] as Json;
  switch (type) {
    case 'string':
      return ownWords;
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? Math.ceil(minimum) : 0;
    case 'boolean':
      return true;
    case 'array':
      return minItems === undefined || minItems === 0 ? [] : [exampleOf(items, depth + 1) ?? ownWords];
    case 'object': {
      const wanted = Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
      const names = wanted.length > 0 ? wanted : Object.keys(properties ?? {});
      return Object.fromEntries(names.map((name) => [name, exampleOf(properties?.[name], depth + 1) ?? ownWords]));
    }
    default:
      return undefined;
  }
}

interface SchemaParts {
  readonly type?: Json;
  readonly enum?: Json;
  readonly const?: Json;
  readonly default?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: Json;
  readonly items?: Json;
  readonly minimum?: Json;
  readonly minItems?: Json;
}
