import type { TemporalSettings } from '../../host/connection';

/** What the process that measures passes to the process of a peer, as an argument. */
export interface ChildSetup {
  /** The module of the adapter. */
  readonly adapter: string;
  readonly postgres?: string;
  readonly temporal?: TemporalSettings;
  readonly directory: string;
  readonly payments: string;
  /** The turn in whose payment the process hangs until it is killed. */
  readonly hangsIn?: number;
}

export type Command =
  | { readonly do: 'run'; readonly turns: number }
  | { readonly do: 'many'; readonly runs: number; readonly turns: number }
  | { readonly do: 'answers'; readonly times: number }
  | { readonly do: 'park'; readonly runs: number }
  | { readonly do: 'memory' }
  | { readonly do: 'pay'; readonly ids: readonly string[]; readonly turns: number }
  | { readonly do: 'recover'; readonly ids: readonly string[]; readonly hasOneHost: boolean }
  | { readonly do: 'close' };

export type Reply =
  { readonly ok: true; readonly ms: readonly number[]; readonly value: number } | { readonly ok: false; readonly problem: string };

/** 1.6 KB of the model and 1.6 KB of the tool in each turn. */
export const textBytes = 1600;
