import type { RunEvent } from '../../contract/events';
import type { AguiEvent } from './events';

/** An agent says what its state is by events of these names. */
const names = { snapshot: 'state-snapshot', delta: 'state-delta' } as const;

export function stateEventOf(event: RunEvent): Extract<AguiEvent, { type: 'STATE_SNAPSHOT' | 'STATE_DELTA' }> | undefined {
  if (event.type !== 'custom') return undefined;
  if (event.name === names.snapshot) return { type: 'STATE_SNAPSHOT', snapshot: event.data };
  if (event.name === names.delta && Array.isArray(event.data)) return { type: 'STATE_DELTA', delta: event.data };
  return undefined;
}
