import type { ReadonlySignal } from '@preact/signals';
import { signal } from '@preact/signals';
import type { RunEvent } from '../../http/index';
import { service } from './service';

/** How an interrupt ended, as the log of its run has it. */
export type InterruptEnding = Pick<Extract<RunEvent, { type: 'interrupt-end' }>, 'answer' | 'by' | 'reason' | 'time'>;

const patienceMs = 15_000;
const most = 50;
const endings = signal<ReadonlyMap<string, InterruptEnding>>(new Map());
const asked = new Set<string>();
let line: Promise<void> = Promise.resolve();

/** The known endings, by the key of the interrupt. */
export const knownEndings: ReadonlySignal<ReadonlyMap<string, InterruptEnding>> = endings;

/** What a page has read of an ending itself. */
export function noteEnding(key: string, ending: InterruptEnding): void {
  asked.add(key);
  if (!endings.peek().has(key)) endings.value = new Map(endings.peek()).set(key, ending);
}

/** Finds out who ended an interrupt. One log is read at a time, and of many that end together only some. */
export function learnEnding(key: string, runId: string, interruptId: string): void {
  if (asked.has(key) || asked.size - endings.peek().size > most) return;
  asked.add(key);
  line = line.then(async () => {
    const ending = await endingIn(runId, interruptId).catch(() => undefined);
    if (ending !== undefined) endings.value = new Map(endings.peek()).set(key, ending);
    else asked.delete(key);
  });
}

async function endingIn(runId: string, interruptId: string): Promise<InterruptEnding | undefined> {
  for await (const event of service.events(runId, { until: 'waiting', signal: AbortSignal.timeout(patienceMs) }))
    if (event.type === 'interrupt-end' && event.interruptId === interruptId) return event;
  return undefined;
}
