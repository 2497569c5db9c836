import { signal } from '@preact/signals';
import type { RunEvent } from '../../client/http/index';
import { service } from './service';

export type InterruptEnding = Pick<Extract<RunEvent, { type: 'interrupt-end' }>, 'answer' | 'by' | 'reason' | 'time'>;

const patienceMs = 15_000;
const most = 50;
export const knownEndings = signal<ReadonlyMap<string, InterruptEnding>>(new Map());
const asked = new Set<string>();
let line: Promise<void> = Promise.resolve();

export function noteEnding(key: string, ending: InterruptEnding): void {
  asked.add(key);
  if (!knownEndings.peek().has(key)) knownEndings.value = new Map(knownEndings.peek()).set(key, ending);
}

/** Skips some of many interrupts that end together. */
export function learnEnding(key: string, runId: string, interruptId: string): void {
  if (asked.has(key) || asked.size - knownEndings.peek().size > most) return;
  asked.add(key);
  line = line.then(async () => {
    const ending = await endingIn(runId, interruptId).catch(() => undefined);
    if (ending !== undefined) noteEnding(key, ending);
    else asked.delete(key);
  });
}

async function endingIn(runId: string, interruptId: string): Promise<InterruptEnding | undefined> {
  for await (const event of service.events(runId, { until: 'waiting', signal: AbortSignal.timeout(patienceMs) }))
    if (event.type === 'interrupt-end' && event.interruptId === interruptId) return event;
  return undefined;
}
