import type { TemporalSettings } from '../../../host/connection';

export interface ChildSetup {
  readonly adapter: string;
  readonly postgres?: string;
  readonly temporal?: TemporalSettings;
  readonly directory: string;
  readonly payments: string;
  /** The turn in whose payment the process hangs. */
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

export const textBytes = 1600;
