import type { AgentRecord } from './state';

/** How often calls were made at each place of a run: every call has an address of its own, also behind a continue-as-new. */
export class Addresses {
  private readonly times: Map<string, number>;

  constructor(saved: Readonly<Record<string, number>> = {}) {
    this.times = new Map(Object.entries(saved));
  }

  /** The address itself the first time, with an ordinal after that. */
  unique(address: string): string {
    const ordinal = (this.times.get(address) ?? 0) + 1;
    this.times.set(address, ordinal);
    return ordinal === 1 ? address : `${address}.${ordinal}`;
  }

  /** Those at which agents at work may call again: in the turns that they are in. Absent: there are none. */
  over(agents: Readonly<Record<string, AgentRecord>>): Readonly<Record<string, number>> | undefined {
    const open = Object.entries(agents).map(([path, { turn }]) => `${path}/t${turn}/`);
    const kept = [...this.times].filter(([address]) => open.some((prefix) => address.startsWith(prefix)));
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
}
