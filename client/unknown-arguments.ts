import { isRecord } from '../contract/check';
import type { Interrupt } from '../contract/interrupts';
import type { Json } from '../contract/messages/messages';
import { similarNames } from '../contract/similar-names';

/** Tools drop unknown arguments, so a typo would run the call unchanged. The model's arguments are not checked. */
export function unknownArgument(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind !== 'approval') return undefined;
  const edited = isRecord(answer) ? answer['editedInput'] : undefined;
  const found = unknownIn(interrupt.inputSchema, edited, interrupt.input, []);
  if (found === undefined) return undefined;
  const { path, known } = found;
  const [meant] = similarNames(path.at(-1) ?? '', known);
  const hint = meant === undefined ? `It has: ${known.join(', ')}` : `Did you mean ${[...path.slice(0, -1), meant].join('.')}?`;
  return `${interrupt.tool} has no argument ${path.join('.')}. ${hint}`;
}

interface Unknown {
  readonly path: readonly string[];
  readonly known: readonly string[];
}

function unknownIn(schema: unknown, edited: unknown, before: unknown, path: readonly string[]): Unknown | undefined {
  if (!isRecord(schema) || !isRecord(edited)) return undefined;
  const { properties } = schema;
  // An open schema, or a schema with several forms, is not checked.
  const isOpen = ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((key) => key in schema);
  if (!isRecord(properties) || isOpen) return undefined;
  const was = isRecord(before) ? before : {};
  for (const [name, value] of Object.entries(edited)) {
    const at = [...path, name];
    if (!Object.hasOwn(properties, name)) {
      if (Object.hasOwn(was, name)) continue;
      return { path: at, known: Object.keys(properties) };
    }
    const inside = unknownIn(properties[name], value, was[name], at);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
