import type { CancelRequest } from '../contract/cancel';
import type { HoldfastError } from '../contract/errors';
import { givenTime } from '../contract/given-time';
import type { AgentRunInput } from '../contract/record/wire';
import type { AgentRun } from '../kernel/engine/run';
import { cancelled } from '../kernel/run/cancel-plan';
import type { MemoryPorts } from './ports';

/** One stretch of a run between two continue-as-new, or up to its end. */
export interface Stretch {
  readonly input: AgentRunInput;
  readonly ports: MemoryPorts;
  readonly run: AgentRun;
  stall(error: HoldfastError): void;
}

/** With a request as a signal brings one, without as the server itself cancels a run. */
export function cancelStretch({ run, ports }: Stretch, now: number, request: CancelRequest | undefined): void {
  if (request === undefined) {
    const error = cancelled();
    run.cancel(error);
    ports.stop(error);
    return;
  }
  run.askToCancel(request);
  if (request.withinMs !== undefined) run.cancels.limit(givenTime(request.at, now) + request.withinMs);
}
