import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import { frozen } from '../../contract/freeze';

const prototypeKey = '__proto__';

/** Copying an object loses a `__proto__` key or turns the key into a prototype, so `__proto__` is refused at any depth. */
export function keptValue(kind: string, key: string, value: Json): Json {
  if (typeof key !== 'string') throw new HoldfastError('value-not-json', `The key of a ${kind} value is a text, not a ${typeof key}.`);
  if (key === prototypeKey)
    throw new HoldfastError('value-not-json', `The ${kind} value "${key}" has the key "${prototypeKey}", which no object here can keep.`);
  checkedValue(kind, key, value);
  return typeof value === 'object' ? frozen(JSON.parse(JSON.stringify(value)) as Json) : value;
}

export function ownValue(values: Readonly<Record<string, Json>>, key: string): Json | undefined {
  return Object.hasOwn(values, key) ? frozen(values[key]) : undefined;
}

export function checkedValue(kind: string, key: string, value: Json): Json {
  const problem = notJson(value);
  if (problem !== undefined)
    throw new HoldfastError('value-not-json', `The ${kind} value "${key}" is not JSON: ${problem}. Keep plain data here.`);
  return value;
}

/** Returns the event's bytes. */
export function checkedEvent(name: string, data: Json, from = ''): number {
  if (typeof name !== 'string' || name === '' || name.length > 200)
    throw new HoldfastError('hook-failed', `The name of an event${from} is a text of 1 to 200 characters.`);
  const bytes = jsonSize(checkedValue('event', name, data));
  if (bytes > limits.interrupt)
    throw new HoldfastError('payload-too-large', `The event "${name}"${from} has ${bytes} bytes; at most ${limits.interrupt} fit.`);
  return bytes;
}
