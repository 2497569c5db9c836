import type { TemporalSettings } from '../../host/connection';

/** What a fake model says in one turn. Without a call, the run is over. */
export interface Said {
  readonly text: string;
  readonly call?: { readonly id: string; readonly name: ToolName; readonly input: ToolInput };
}

export type ToolName = 'words' | 'pay' | 'refund';

/** JSON objects that every framework can carry as a tool's arguments. */
export interface ToolInput {
  readonly run: string;
  readonly turn: number;
}

/** What all peers are given: the same model, the same tools, and where they may store. */
export interface PeerSetup {
  /** A database of its own. */
  readonly postgres?: string;
  readonly temporal?: TemporalSettings;
  /** Lasts over the processes of a peer. */
  readonly directory: string;
  /** The model. `task` is the text with which the run was started, `done` the number of tool results that the model sees. */
  model(task: string, done: number): Said;
  /** New words. */
  words(): string;
  /** Pays outside. `key` is what the framework gives a tool to tell a repeated call by. */
  pay(input: ToolInput, key: string): Promise<string>;
  /** The tool that waited for an approval. */
  refund(input: ToolInput): string;
}

/** One framework at work in one process. */
export interface Peer {
  /** Runs the task to its end. */
  run(id: string, task: string): Promise<void>;
  /** Starts a run that asks for an approval, and comes back when it waits. */
  park(id: string, task: string): Promise<void>;
  /** Approves, and comes back when the run has ended. */
  answer(id: string): Promise<void>;
  /** After a kill: does what the framework's users must do, and comes back when the runs have ended. `hasOneHost`: so do both processes. */
  recover(ids: readonly string[], hasOneHost: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface PeerModule {
  open(setup: PeerSetup): Promise<Peer>;
}
