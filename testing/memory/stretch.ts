import type { CancelRequest } from '../../contract/cancel';
import type { HoldfastError } from '../../contract/errors';
import { givenTime } from '../../contract/given-time';
import type { AgentRunInput } from '../../contract/record/wire';
import type { AgentRun } from '../../kernel/engine/run';
import { cancelled } from '../../kernel/run/cancel-plan';
import type { MemoryPorts } from './ports';

export interface Stretch {
  readonly input: AgentRunInput;
  readonly ports: MemoryPorts;
  readonly run: AgentRun;
  stall(error: HoldfastError): void;
}

/** With a request like a signal, without like a cancel of the server. */
export function cancelStretch({ run, ports }: Stretch, now: number, request: CancelRequest | undefined): void {
  if (request === undefined) {
    const error = cancelled();
    run.cancel(error);
    ports.stop(error);
    return;
  }
  run.cancels.ask(request);
  if (request.withinMs !== undefined) run.cancels.limit(givenTime(request.at, now) + request.withinMs);
}
