import type { AgentRunInput } from './wire';

/** Whoever reaches the server can start a workflow of our type with anything in it. */
export function isRunInput(input: unknown): input is AgentRunInput {
  const { start, snapshot } = (input ?? {}) as Partial<Record<keyof AgentRunInput, unknown>>;
  if (!isRecord(start) || typeof start['agent'] !== 'string' || start['input'] === undefined) return false;
  if (start['parent'] !== undefined && !isParent(start['parent'])) return false;
  if (snapshot === undefined) return true;
  if (!isRecord(snapshot) || typeof snapshot['nextOffset'] !== 'number') return false;
  if (!isRecord(snapshot['state']) || !isRecord(snapshot['lists'])) return false;
  return [snapshot['shown'], snapshot['events'], ...Object.values(snapshot['lists'])].every(Array.isArray);
}

function isParent(parent: unknown): boolean {
  if (!isRecord(parent)) return false;
  const { id, from, nth } = parent;
  return typeof id === 'string' && typeof from === 'string' && (nth === undefined || typeof nth === 'number');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
