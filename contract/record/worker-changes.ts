import type { EventBody } from '../events';
import type { MiddlewareChange } from '../middleware-changes';

type Changed = Pick<Extract<EventBody, { type: 'model-end' | 'tool-end' }>, 'changes'>;

/** Readers see changes by worker middleware in the end event, after changes by the workflow. */
export class WorkerChanges {
  private readonly byAddress = new Map<string, readonly MiddlewareChange[]>();

  cameBack(address: string, result: unknown): void {
    const { changes } = (result ?? {}) as Changed;
    if (Array.isArray(changes) && changes.length > 0) this.byAddress.set(address, changes);
  }

  join(event: EventBody, address: string): Changed {
    const changes = event.type === 'model-end' || event.type === 'tool-end' ? this.byAddress.get(address) : undefined;
    if (changes === undefined) return {};
    this.byAddress.delete(address);
    return { changes: [...((event as Changed).changes ?? []), ...changes] };
  }
}
