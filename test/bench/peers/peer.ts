import type { TemporalSettings } from '../../../host/connection';

/** Without a call, the run ends. */
export interface Said {
  readonly text: string;
  readonly call?: { readonly id: string; readonly name: ToolName; readonly input: ToolInput };
}

export type ToolName = 'words' | 'pay' | 'refund';

export interface ToolInput {
  readonly run: string;
  readonly turn: number;
}

export interface PeerSetup {
  readonly postgres?: string;
  readonly temporal?: TemporalSettings;
  /** Outlives the processes of a peer. */
  readonly directory: string;
  /** `task` is the run's input, `done` the number of tool results. */
  model(task: string, done: number): Said;
  /** New random words. */
  words(): string;
  /** `key` is the framework's id of a call. */
  pay(input: ToolInput, key: string): Promise<string>;
  refund(input: ToolInput): string;
}

export interface Peer {
  run(id: string, task: string): Promise<void>;
  /** Returns when the run waits. */
  park(id: string, task: string): Promise<void>;
  /** Returns when the run has ended. */
  answer(id: string): Promise<void>;
  /** Returns when the runs have ended. `hasOneHost`: the killed process ran on the same host. */
  recover(ids: readonly string[], hasOneHost: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface PeerModule {
  open(setup: PeerSetup): Promise<Peer>;
}
