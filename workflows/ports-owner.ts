import type { Answer, Interrupt } from '../contract/interrupts';

/** Asks for a command of a place in the run. `make` returns nothing where this task has no room for the command. */
export type AskForCommand = <T>(place: string, make: () => Promise<T> | undefined) => Promise<T>;

/** What the ports ask the workflow for, and tell it. */
export interface PortsOwner {
  /** Whether the run is to continue as new where it can. */
  wantsContinueAsNew(): boolean;
  /** What the run asks at the moment. */
  asked(): readonly Interrupt[];
  /** The run is to move to the newest build. */
  move?(): void;
  /** Told of answers to isolated agents that this run was not handed. */
  found(answer: Answer): void;
}
