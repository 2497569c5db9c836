import { HoldfastError } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Failure, ToolCall } from '../../contract/messages/messages';

export type Outcome<Output> =
  | { readonly status: 'completed'; readonly output: Output; readonly text: string }
  /** The run ended with calls of external tools. Make them, and start another run with its messages and their results. */
  | { readonly status: 'tool-calls-pending'; readonly toolCalls: readonly ToolCall[]; readonly text: string }
  | { readonly status: 'waiting'; readonly interrupts: readonly Interrupt[] }
  | { readonly status: 'failed'; readonly error: Failure }
  | { readonly status: 'stuck'; readonly error: Failure }
  | { readonly status: 'cancelled' }
  /** A conversation that waits for somebody to say something. */
  | { readonly status: 'idle' }
  | { readonly status: 'running' };

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

/** The run is over, and what it was started for is not there. */
export function callsPending(id: string, calls: readonly ToolCall[]): HoldfastError {
  const tools = calls.map(({ name }) => `'${name}'`).join(', ');
  return new HoldfastError('tool-calls-pending', `The run "${id}" has no result: it ended with calls of ${tools}, which no worker runs.`);
}
