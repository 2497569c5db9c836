import type { RunEvent } from '../../contract/events';

/**
 * The log without repeated starts: a worker was lost during a `once` call, or a hook called `next` twice. A log cannot tell the two apart.
 */
export class WholeCalls {
  hidden = 0;
  private readonly begun = new Map<string, string>();
  private readonly lost = new Set<string>();

  shown(event: RunEvent): RunEvent | undefined {
    if (event.type === 'tool-reconcile' || (event.type === 'tool-start' && event.again === true)) {
      this.hidden += 1;
      this.lost.add(callOf(event));
      return undefined;
    }
    const shown = { ...event, offset: event.offset - this.hidden };
    if (event.type === 'tool-start') this.begun.set(callOf(event), event.address);
    if (event.type !== 'tool-end' || !this.lost.delete(callOf(event))) return shown;
    return { ...shown, address: this.begun.get(callOf(event)) } as RunEvent;
  }
}

function callOf({ runPath, callId }: Extract<RunEvent, { type: 'tool-start' | 'tool-end' | 'tool-reconcile' }>): string {
  return `${runPath.join('/')} ${callId}`;
}
