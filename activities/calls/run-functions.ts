import type { Json } from '../../contract/messages/messages';
import { currentValues } from './call-context';
import { outsideRun } from './call-values';
import type { RunAccess } from '../worker-middleware/worker-middleware';

/** `call.runLocal` and `call.sendEvent` for code without a `call` at hand. */
export function setRunLocalValue(key: string, value: Json): void {
  accessFor('setRunLocalValue').runLocal.set(key, value);
}

export function getRunLocalValue(key: string): Json | undefined {
  return accessFor('getRunLocalValue').runLocal.get(key);
}

export function deleteRunLocalValue(key: string): void {
  accessFor('deleteRunLocalValue').runLocal.delete(key);
}

export function sendEvent(name: string, data: Json): void {
  accessFor('sendEvent').sendEvent(name, data);
}

function accessFor(caller: string): RunAccess {
  const values = currentValues();
  if (values === undefined) throw outsideRun(caller);
  return values.access(() => caller);
}
