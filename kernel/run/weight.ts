import { isRecord } from '../../contract/check';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { AgentRunInput } from '../../contract/record/wire';

interface WithEvents {
  readonly events?: readonly object[];
}

/** Changes by middleware weigh nothing, because histories from before these events must replay with the same commands. */
export function weighed<Taking extends object>(taking: Taking): Taking {
  const { events } = taking as WithEvents;
  if (events === undefined || !events.some((event) => 'changes' in event)) return taking;
  return { ...taking, events: events.map(withoutChanges) };
}

export function withoutChanges<Event extends object>(event: Event): Event {
  return 'changes' in event ? { ...event, changes: undefined } : event;
}

function bytesOfChanges(value: unknown): number {
  let bytes = 0;
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === 'changes' && Array.isArray(inner) && inner.every(isChange)) bytes += jsonSize({ changes: inner });
    return inner;
  });
  return bytes;
}

function isChange(one: unknown): boolean {
  return isRecord(one) && 'middleware' in one && 'hook' in one && 'changed' in one;
}

/** To fit the server's limit, messages that readers need only until the next model call may be dropped. */
export function fitting(next: AgentRunInput): AgentRunInput {
  const { start, snapshot } = next;
  if (start.externalStorage === true) return next;
  const bytes = jsonSize(next);
  if (bytes <= limits.inlineSnapshot || bytes - bytesOfChanges(next) <= limits.inlineSnapshot) return next;
  if (snapshot?.seen !== undefined) {
    const { seen: _, ...needed } = snapshot;
    return fitting({ start, snapshot: needed });
  }
  throw new HoldfastError(
    'transcript-too-large',
    `The state of the run has ${bytes} bytes at a continue-as-new; without external storage ${limits.inlineSnapshot} fit.`,
  );
}
