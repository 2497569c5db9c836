import type { Answer, Interrupt } from '../contract/interrupts';

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
