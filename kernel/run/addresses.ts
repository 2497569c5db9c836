import type { AgentRecord } from './state';

/** Counts calls at each place of a run, so every call has its own address, also after a continue-as-new. */
export class Addresses {
  private readonly times: Map<string, number>;

  constructor(saved: Readonly<Record<string, number>> = {}) {
    this.times = new Map(Object.entries(saved));
  }

  /** The address itself the first time, later with an ordinal. */
  unique(address: string): string {
    const ordinal = (this.times.get(address) ?? 0) + 1;
    this.times.set(address, ordinal);
    return ordinal === 1 ? address : `${address}.${ordinal}`;
  }

  /** Addresses at which agents at work may call again, in their present turns. Absent: none. */
  over(agents: Readonly<Record<string, AgentRecord>>): Readonly<Record<string, number>> | undefined {
    const open = Object.entries(agents).map(([path, { turn }]) => `${path}/t${turn}/`);
    const kept = [...this.times].filter(([address]) => open.some((prefix) => address.startsWith(prefix)));
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
}
