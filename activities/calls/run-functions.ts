import type { Json } from '../../contract/messages/messages';
import { currentValues } from './call-context';
import { outsideRun } from './call-values';
import type { RunAccess } from '../worker-middleware/worker-middleware';

/**
 * Sets a value for later calls and hooks of the agent in this run, from code without a `call` at hand.
 * @example
 * export const logIn = defineTool({
 *   description: 'Remembers the customer.',
 *   inputSchema: z.object({ name: z.string() }),
 *   execute: ({ name }) => setRunLocalValue('customer', name),
 * });
 */
export function setRunLocalValue(key: string, value: Json): void {
  accessFor('setRunLocalValue').runLocal.set(key, value);
}

/**
 * Reads a value of the run's agent that earlier calls or hooks have set.
 * @example
 * export const whoIsIt = defineTool({
 *   description: 'Says who the customer is.',
 *   inputSchema: z.object({}),
 *   execute: () => getRunLocalValue('customer') ?? 'unknown',
 * });
 */
export function getRunLocalValue(key: string): Json | undefined {
  return accessFor('getRunLocalValue').runLocal.get(key);
}

/**
 * Deletes a value of the run's agent that `setRunLocalValue` has set.
 * @example
 * export const logOut = defineTool({
 *   description: 'Forgets the customer.',
 *   inputSchema: z.object({}),
 *   execute: () => deleteRunLocalValue('customer'),
 * });
 */
export function deleteRunLocalValue(key: string): void {
  accessFor('deleteRunLocalValue').runLocal.delete(key);
}

/**
 * Adds a `custom` event to the log of the run, from code without a `call` at hand.
 * @example
 * export async function pack(orderId: string): Promise<void> {
 *   sendEvent('packing', { orderId, percent: 0 });
 *   await fetch(`https://warehouse.example/${orderId}`, { method: 'POST' });
 *   sendEvent('packing', { orderId, percent: 100 });
 * }
 */
export function sendEvent(name: string, data: Json): void {
  accessFor('sendEvent').sendEvent(name, data);
}

function accessFor(caller: string): RunAccess {
  const values = currentValues();
  if (values === undefined) throw outsideRun(caller);
  return values.access(() => caller);
}
