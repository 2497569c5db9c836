import { HoldfastError } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, ToolCall } from '../../contract/messages/messages';
import { errorOf } from '../connection/refusals';

export type Outcome<Output> =
  | { readonly status: 'completed'; readonly output: Output; readonly text: string }
  /** The run ended with external tool calls: make the calls, and start another run with messages and results. */
  | { readonly status: 'tool-calls-pending'; readonly toolCalls: readonly ToolCall[]; readonly text: string }
  | { readonly status: 'waiting'; readonly interrupts: readonly Interrupt[] }
  | { readonly status: 'failed'; readonly error: Failure }
  | { readonly status: 'stuck'; readonly error: Failure }
  | { readonly status: 'cancelled' }
  /** A conversation that waits for a message. */
  | { readonly status: 'idle' }
  | { readonly status: 'running' };

/**
 * Reads from a view how a run stands: with its output, its open questions, or its error.
 * @example
 * const outcome = outcomeOf(await run.view());
 * if (outcome.status === 'completed') console.log(outcome.output);
 * else console.log('Not yet:', outcome.status);
 */
export function outcomeOf(view: RunView): Outcome<unknown> {
  const { status, error } = view;
  switch (status) {
    case 'completed':
      if (view.pendingToolCalls !== undefined)
        return { status: 'tool-calls-pending', toolCalls: view.pendingToolCalls, text: view.text ?? '' };
      return { status, output: view.output ?? null, text: view.text ?? '' };
    case 'waiting':
      return { status, interrupts: view.interrupts };
    case 'failed':
    case 'stuck':
      return { status, error: error ?? { code: 'run-failed', message: 'The run failed.' } };
    default:
      return { status };
  }
}

export function endErrorOf(id: string, outcome: Outcome<unknown>, cause?: unknown): HoldfastError | undefined {
  switch (outcome.status) {
    case 'tool-calls-pending': {
      const tools = outcome.toolCalls.map(({ name }) => `'${name}'`).join(', ');
      return new HoldfastError(outcome.status, `The run "${id}" has no result: it ended with calls of ${tools}, which no worker runs.`);
    }
    case 'cancelled':
      return new HoldfastError('cancelled', `The run "${id}" was cancelled.`, { cause });
    case 'failed':
    case 'stuck':
      return errorOf(outcome.error, 'run-failed', cause);
    default:
      return undefined;
  }
}
