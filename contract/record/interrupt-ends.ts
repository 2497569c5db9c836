import type { WireEvent } from '../events';

export class InterruptEnds {
  readonly expired = new Set<string>();
  readonly withdrawn = new Set<string>();

  restore(expired: readonly string[] = [], withdrawn: readonly string[] = []): void {
    for (const id of expired) this.expired.add(id);
    for (const id of withdrawn) this.withdrawn.add(id);
  }

  hear(event: WireEvent): void {
    const id = String(event['interruptId']);
    if (event.type === 'interrupt-end' && event['reason'] === 'deadline') this.expired.add(id);
    if (event.type === 'interrupt-end' && event['reason'] === 'cancel') this.withdrawn.add(id);
    if (event.type !== 'interrupt-start') return;
    // A question that a cancel withdrew is asked again after a resume.
    this.withdrawn.delete(typeof event.interrupt === 'string' ? event.interrupt : (event.interrupt?.id ?? ''));
  }
}
