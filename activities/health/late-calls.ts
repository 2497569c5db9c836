import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { runIdOf } from '../../contract/names';

/** `what`: the function that code called after its own call had ended. */
export type Late = (what: string) => void;

interface EndedCall {
  readonly workflowId: string;
  readonly address: string;
  readonly tool?: string;
}

/** A late request, from a timer for example, has no caller to catch an error, so each call reports its first late request. */
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
