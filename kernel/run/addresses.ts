import type { AgentRecord } from './state';

/** Counts calls at each place of a run, so addresses stay unique across continue-as-new. */
export class Addresses {
  private readonly times: Map<string, number>;

  constructor(saved: Readonly<Record<string, number>> = {}) {
    this.times = new Map(Object.entries(saved));
  }

  unique(address: string): string {
    const ordinal = (this.times.get(address) ?? 0) + 1;
    this.times.set(address, ordinal);
    return ordinal === 1 ? address : `${address}.${ordinal}`;
  }

  over(agents: Readonly<Record<string, AgentRecord>>): Readonly<Record<string, number>> | undefined {
    const open = Object.entries(agents).map(([path, { turn }]) => `${path}/t${turn}/`);
    const kept = [...this.times].filter(([address]) => open.some((prefix) => address.startsWith(prefix)));
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
}
