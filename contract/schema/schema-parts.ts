import type { Json } from '../messages/messages';

export type SchemaObject = Readonly<Record<string, Json | undefined>>;

export function first<Item>(items: readonly Item[], problem: (item: Item, position: number) => string | undefined): string | undefined {
  for (let position = 0; position < items.length; position++) {
    const found = problem(items[position] as Item, position);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

export function own(record: SchemaObject, key: string): Json | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

export function isRecord(value: Json | undefined): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
