import { HoldfastError, messageOf } from '../contract/errors';
import type { Json, JsonObject } from '../contract/messages/messages';

export function parsedJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new HoldfastError('request-invalid', `${what} is not JSON: ${messageOf(error)}`);
  }
}

/** Text that begins as JSON must be JSON. */
export function jsonOrText(text: string, what = 'The answer'): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!/^\s*[{["]/.test(text)) return text;
    throw new HoldfastError(
      'request-invalid',
      `${what} is not JSON: ${messageOf(error)}. Write a text that begins so as a string of JSON.`,
    );
  }
}

export function withChanges(input: Json, changes: readonly string[], said = '--set'): Json {
  return changes.reduce((changed: Json, change) => {
    const at = change.indexOf('=');
    const path = change.slice(0, Math.max(at, 0)).split('.');
    if (at < 1 || path.includes(''))
      throw new HoldfastError('request-invalid', `${said} must be <name>=<value>, such as amount=40. It is "${change}".`);
    return withValue(changed, path, jsonOrText(change.slice(at + 1), 'The value'), `${said} ${change}`);
  }, input);
}

function withValue(into: Json | undefined, [key = '', ...rest]: readonly string[], value: Json, change: string): Json {
  const inner = (before: Json | undefined): Json => (rest.length === 0 ? value : withValue(before, rest, value, change));
  if (Array.isArray(into)) {
    const items = into as readonly Json[];
    const index = /^\d+$/.test(key) ? Number(key) : -1;
    if (index < 0 || index > items.length) {
      const fits = items.length === 0 ? '0' : `0 to ${items.length}`;
      throw new HoldfastError('request-invalid', `${change}: "${key}" stands for a place in an array. Write a number, ${fits}.`);
    }
    return [...items.slice(0, index), inner(items[index]), ...items.slice(index + 1)];
  }
  if (into !== undefined && into !== null && typeof into !== 'object')
    throw new HoldfastError('request-invalid', `${change}: "${key}" would stand inside of ${JSON.stringify(into)}, which is no object.`);
  const object = (into ?? {}) as JsonObject;
  const changed = inner(Object.hasOwn(object, key) ? object[key] : undefined);
  const entries = Object.entries(object).map(([name, kept]) => [name, name === key ? changed : kept] as const);
  // Not an assignment, because a key may be `__proto__`.
  return Object.fromEntries(Object.hasOwn(object, key) ? entries : [...entries, [key, changed] as const]);
}
