import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { Json } from '../../contract/messages/messages';
import type { RunLocalValues } from '../../contract/run-local';
import type { CallToolResult } from '../../contract/record/wire';
import { checkedEvent, keptValue, ownValue } from '../../kernel/effects/kept-values';
import type { Late } from '../health/late-calls';
import type { RunAccess } from '../worker-middleware/worker-middleware';

/** Changes return with the call's result. */
export class CallValues {
  private readonly changed = new Map<string, Json | undefined>();
  private readonly events: { readonly type: 'custom'; readonly name: string; readonly data: Json }[] = [];
  private eventBytes = 0;
  private over = false;
  private values: RunLocalValues = {};

  constructor(private readonly late: Late = () => undefined) {}

  begin(values: RunLocalValues): void {
    this.values = values;
  }

  /** `caller` names the function in the report of a late request. A late write has no effect, and a late read gets the last values. */
  access(caller = (name: string): string => `call.${name}`): RunAccess {
    return {
      runLocal: {
        get: (key) => {
          this.isOpen(caller('runLocal.get'));
          return this.changed.has(key) ? this.changed.get(key) : ownValue(this.values, key);
        },
        set: (key, value) => {
          if (!this.isOpen(caller('runLocal.set'))) return;
          const kept = keptValue('run-local', key, value);
          this.checkRoom(`run-local value "${key}"`, [...this.changed, [key, kept]], this.eventBytes);
          this.changed.set(key, kept);
        },
        delete: (key) => {
          if (!this.isOpen(caller('runLocal.delete'))) return;
          this.changed.set(key, undefined);
        },
      },
      sendEvent: (name, data) => {
        if (!this.isOpen(caller('sendEvent'))) return;
        const bytes = this.eventBytes + checkedEvent(name, data);
        this.checkRoom(`event "${name}"`, [...this.changed], bytes);
        this.eventBytes = bytes;
        this.events.push({ type: 'custom', name, data: JSON.parse(JSON.stringify(data)) as Json });
      },
    };
  }

  end(): Pick<CallToolResult, 'runLocal' | 'events'> {
    this.over = true;
    const { changed, events } = this;
    const set = [...changed].filter(([, value]) => value !== undefined);
    const gone = [...changed.keys()].filter((key) => changed.get(key) === undefined && Object.hasOwn(this.values, key));
    const runLocal = {
      ...(set.length === 0 ? {} : { set: Object.fromEntries<Json | undefined>(set) }),
      ...(gone.length === 0 ? {} : { delete: gone }),
    };
    return {
      ...(Object.keys(runLocal).length === 0 ? {} : { runLocal: { id: randomUUID().slice(-12), ...runLocal } }),
      ...(events.length === 0 ? {} : { events }),
    };
  }

  drop(): void {
    this.over = true;
    this.changed.clear();
    this.events.length = 0;
  }

  private isOpen(caller: string): boolean {
    if (this.over) this.late(caller);
    return !this.over;
  }

  private checkRoom(what: string, changed: readonly (readonly [string, Json | undefined])[], eventBytes: number): void {
    const bytes = eventBytes + changed.reduce((sum, [key, value]) => sum + key.length + (value === undefined ? 0 : jsonSize(value)), 0);
    if (bytes > limits.interrupt)
      throw new HoldfastError(
        'payload-too-large',
        `With the ${what} this call would hand back ${bytes} bytes of values and events; at most ${limits.interrupt} fit.`,
      );
  }
}

export function outsideRun(caller: string): HoldfastError {
  return new HoldfastError('outside-run', `${caller} failed: must be called within a run`);
}
