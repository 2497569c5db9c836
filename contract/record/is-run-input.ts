import { isRecord } from '../check';
import { isMessage } from '../messages/messages';
import type { AgentRunInput } from './wire';

export const foreignInput =
  'The input of the workflow is none of a run: it was started without Holdfast, or its input is in a storage that this reader does not have.';

/** Anybody who reaches the server can start this workflow type with any input. */
export function isRunInput(input: unknown): input is AgentRunInput {
  const { start, snapshot } = (input ?? {}) as Partial<Record<keyof AgentRunInput, unknown>>;
  if (!isRecord(start) || typeof start['agent'] !== 'string' || start['input'] === undefined) return false;
  if (start['parent'] !== undefined && !isParent(start['parent'])) return false;
  if (start['conversation'] !== undefined && !isConversation(start['conversation'])) return false;
  if (snapshot === undefined) return true;
  if (!isRecord(snapshot) || typeof snapshot['nextOffset'] !== 'number') return false;
  if (!isRecord(snapshot['state']) || !isRecord(snapshot['lists'])) return false;
  if (snapshot['seen'] !== undefined && !areSplices(snapshot['seen'])) return false;
  if (snapshot['together'] !== undefined && typeof snapshot['together'] !== 'boolean') return false;
  if (snapshot['named'] !== undefined && !areNamed(snapshot['named'])) return false;
  return [snapshot['shown'], snapshot['events'], ...Object.values(snapshot['lists'])].every(Array.isArray);
}

function isConversation(value: unknown): boolean {
  return isRecord(value) && typeof value['window'] === 'number';
}

function areSplices(value: unknown): boolean {
  return Array.isArray(value) && value.every(isSplice);
}

function isSplice(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [at, remove, insert] = value as readonly unknown[];
  return Number.isInteger(at) && Number.isInteger(remove) && Array.isArray(insert) && insert.every(isListItem);
}

function areNamed(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { lists = {}, shown = [] } = value;
  return isRecord(lists) && [shown, ...Object.values(lists)].every((items) => Array.isArray(items) && items.every(isListItem));
}

function isListItem(item: unknown): boolean {
  return typeof item === 'string' || (isMessage(item) && typeof (item as { readonly id?: unknown }).id === 'string');
}

function isParent(parent: unknown): boolean {
  if (!isRecord(parent)) return false;
  const { id, from, nth, path = [''], context = [] } = parent;
  if (typeof id !== 'string' || typeof from !== 'string' || (nth !== undefined && typeof nth !== 'number')) return false;
  return Array.isArray(path) && path.every((segment) => typeof segment === 'string') && Array.isArray(context);
}
