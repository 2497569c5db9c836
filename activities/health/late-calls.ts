import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { runIdOf } from '../../contract/names';

/** Told of what code asked for when its call had ended, by the name of what it asked for. */
export type Late = (what: string) => void;

interface EndedCall {
  readonly workflowId: string;
  readonly address: string;
  /** Absent: a call of a model. */
  readonly tool?: string;
}

/**
 * A call that has ended can do nothing any more. Whoever still asks, from a timer, has nobody who would catch an error: it is reported, once
 * for each call.
 */
export function lateIn({ workflowId, address, tool }: EndedCall, onProblem: ((problem: HoldfastError) => void) | undefined): Late {
  let isTold = false;
  return (what) => {
    if (isTold) return;
    isTold = true;
    const run = runIdOf(workflowId);
    const [who, waits] = tool === undefined ? ['code around a model', 'it'] : [`the tool '${tool}'`, 'the tool'];
    onProblem?.(
      new HoldfastError(
        'outside-run',
        `${what} came too late and did nothing: ${who} asked for it when its call ${address} of run "${run}" had ended. Let ${waits} await all that it starts, and stop when the signal of the call aborts. This is told once for a call.`,
        { details: { run, address, ...defined({ tool }) } },
      ),
    );
  };
}
