import type { FactEvent } from '../../host/history/history-facts';
import { millisecondsOf } from '../../host/history/history-facts';
import type { PayloadReader } from '../../host/history/payload-reader';

/** Signals that no workflow task has taken, decoded only by `read`. */
export class StoredSignals {
  private events: FactEvent[] = [];

  constructor(
    private readonly name: string,
    private readonly payloads: PayloadReader,
  ) {}

  add(event: FactEvent): void {
    if (event.workflowExecutionSignaledEventAttributes?.signalName === this.name) this.events.push(event);
    // A workflow task sees all signals before the task; later signals are written after it.
    else if (event.workflowTaskCompletedEventAttributes || event.workflowExecutionStartedEventAttributes) this.events = [];
  }

  read(): Promise<readonly { readonly at: number; readonly value: unknown }[]> {
    return Promise.all(
      this.events.map(async ({ eventTime, workflowExecutionSignaledEventAttributes: signal }) => {
        const [payload] = signal?.input?.payloads ?? [];
        const value = payload == null ? undefined : await this.payloads.value(payload).catch(() => undefined);
        return { at: millisecondsOf(eventTime), value };
      }),
    );
  }
}
