import { z } from 'zod';
import type { Json } from '../contract/messages/messages';
import { inTime } from '../host/in-time';

/** Where a value does not fit a JSON Schema, by all of its keywords; or nothing. `root` is how a misfit calls the value itself. */
export function wholeMisfit(json: Json, value: Json, root: string): string | undefined {
  const schema = schemaOf(json);
  if (schema === undefined) return undefined;
  const parsed = checked(() => inTime(() => schema.safeParse(value), longestCheckMs));
  if (parsed === null) return undefined;
  if (parsed === undefined) return `to check it against the schema takes more than ${longestCheckMs} ms`;
  return parsed.success ? undefined : parsed.error.issues.map(({ path, message }) => `${path.join('.') || root}: ${message}`).join('; ');
}

/** Nothing for a schema that cannot be read: then the code that asked has to look at the value itself. */
function schemaOf(schema: Json): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

/** A pattern in a schema may take for ever with a value that was made for it. */
const longestCheckMs = 250;

/** Null for a schema that leads back to itself without end: the run, which knows how to read such a one, decides alone. */
function checked<T>(check: () => T): T | null {
  try {
    return check();
  } catch (error) {
    if ((error as { name?: unknown }).name === 'RangeError') return null;
    throw error;
  }
}
