import { randomBytes } from 'node:crypto';
import { HoldfastError } from '../../contract/errors';
import type { ServiceStore } from './store';

/** A secret that all services of a store share. Not kept in memory: a deleted secret ends what it signed. */
export async function storedSecret(store: ServiceStore, key: string): Promise<Buffer> {
  const made = randomBytes(32).toString('hex');
  const secret = (await store.get(key)) ?? ((await store.set(key, made, { ifAbsent: true })) ? made : await store.get(key));
  if (secret === undefined) throw new HoldfastError('identity-unavailable', `The store of keys lost the secret "${key}".`);
  return Buffer.from(secret, 'hex');
}
