import type { Json } from '../../contract/messages/messages';

/** A copy of plain data that may be changed. What is no plain data stays as it is, and is refused where it is kept. */
export function thawed(value: Json): Json {
  if (Array.isArray(value)) return value.map(thawed);
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  return Object.fromEntries(Object.entries(value as Record<string, Json>).map(([key, item]) => [key, thawed(item)]));
}
