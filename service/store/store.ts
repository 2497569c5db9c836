import { z } from 'zod';
import { hashOf } from '../access/secrets';

/** Where the service keeps what is no run: keys, sessions, deliveries, the audit log. */
export interface ServiceStore {
  get(key: string): Promise<string | undefined>;
  /** Returns false if `ifAbsent` is set and the key exists. After `ttlMs` the key is gone. */
  set(key: string, value: string, options?: { readonly ttlMs?: number; readonly ifAbsent?: true }): Promise<boolean>;
  /** Returns whether the key existed. Of several simultaneous calls one returns true. */
  delete(key: string): Promise<boolean>;
  list(prefix: string): Promise<readonly string[]>;
  /** Adds a line to the audit log. */
  append(line: string): Promise<void>;
  /** Reads the audit log, the oldest line first. */
  lines(): AsyncIterable<string>;
}

const methods = ['get', 'set', 'delete', 'list', 'append', 'lines'];

export const StoreSchema = z.custom<ServiceStore>(
  (value) => methods.every((method) => typeof (value as Record<string, unknown> | null)?.[method] === 'function'),
  `is not a store with ${methods.slice(0, -1).join(', ')} and lines`,
);

export async function readJson<T>(store: Pick<ServiceStore, 'get'>, key: string): Promise<T | undefined> {
  const text = await store.get(key);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** A part of keys. The names of tenants may be longer than names of files. */
export function placeOfTenant(tenant: string): string {
  return hashOf(tenant).slice(0, 32);
}
