import { messageOf } from '../../../../contract/errors';

const shortest = 8;
const deepest = 6;
const skipped = new Set(['requestBodyValues', 'stack']);

/** Some providers quote the refused key in the error, its causes and its body. */
export function withoutSecrets(error: unknown, secrets: readonly string[] = []): unknown {
  // A short secret is a stand-in such as "none", and its removal would tear words apart.
  const hidden = secrets.filter((secret) => secret.length >= shortest);
  if (hidden.length === 0) return error;
  const replaced = (text: string): string => hidden.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
  if (typeof error === 'string') return replaced(error);
  return cleaned(error, replaced, 0) ? error : new Error(replaced(messageOf(error)));
}

/** Cleans in place, as the error must stay the same object. False: a field is read-only. */
function cleaned(value: unknown, replaced: (text: string) => string, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > deepest) return true;
  return Object.entries(Object.getOwnPropertyDescriptors(value)).every(([key, { value: field }]) => {
    if (skipped.has(key)) return true;
    if (typeof field !== 'string') return cleaned(field, replaced, depth + 1);
    const text = replaced(field);
    return text === field || Reflect.set(value, key, text);
  });
}
