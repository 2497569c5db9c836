import type { WireEvent } from '../events';

/** How interrupts have ended that took no answer. */
export class InterruptEnds {
  /** Interrupts that nobody answered in time. */
  readonly expired = new Set<string>();
  /** Interrupts that nobody need answer any more. */
  readonly withdrawn = new Set<string>();

  /** Takes what a snapshot says of the time before. */
  restore(expired: readonly string[] = [], withdrawn: readonly string[] = []): void {
    for (const id of expired) this.expired.add(id);
    for (const id of withdrawn) this.withdrawn.add(id);
  }

  hear(event: WireEvent): void {
    const id = String(event['interruptId']);
    if (event.type === 'interrupt-end' && event['reason'] === 'deadline') this.expired.add(id);
    if (event.type === 'interrupt-end' && event['reason'] === 'cancel') this.withdrawn.add(id);
    if (event.type !== 'interrupt-start') return;
    // One that was withdrawn when the run was cancelled is asked again when it goes on.
    this.withdrawn.delete(typeof event.interrupt === 'string' ? event.interrupt : (event.interrupt?.id ?? ''));
  }
}
