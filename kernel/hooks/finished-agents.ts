import type { Json } from '../../contract/messages/messages';
import type { Frame } from '../effects/frames';
import { noteLeft } from '../run/left-agents';
import type { AgentScope } from '../run/scope';
import type { FinishedAgent } from '../run/state';
import { errorOf, recordedFailure } from '../effects/errors';

/*
 * How an agent has ended whose observers are not all told of it yet. One of them may wait, and what the agent did is closed by then: behind
 * a continue-as-new the agent is not run again, and its observers are told on.
 */

/** Throws where the agent has failed. Nothing: it has not ended yet. */
export function keptResult<Result>({ run, path }: AgentScope): Result | undefined {
  const kept = run.state.ends?.[path.join('/')];
  if (kept === undefined) return undefined;
  if ('error' in kept) throw errorOf(kept.error);
  return kept.result as unknown as Result;
}

export function keepResult(scope: AgentScope, root: Frame, result: { readonly output: Json; readonly text: string }): void {
  keep(scope, root, { result });
}

export function keepError(scope: AgentScope, root: Frame, error: unknown): void {
  keep(scope, root, { error: recordedFailure(error) });
}

/** A new object each time: a snapshot may have the one before it. */
export function forgetEnd({ run: { state }, path }: AgentScope): void {
  const { [path.join('/')]: kept, ...others } = state.ends ?? {};
  if (kept === undefined) return;
  if (Object.keys(others).length === 0) delete state.ends;
  else state.ends = others;
}

function keep({ run, path }: AgentScope, root: Frame, end: FinishedAgent): void {
  const key = path.join('/');
  // After a continue-as-new it is there, and observers are at work inside of the frame.
  if (run.state.ends?.[key] !== undefined) return;
  run.state.ends = { ...run.state.ends, [key]: end };
  // It is not entered again: nothing inside of it is asked for any more, and what it has said by now goes over the continue-as-new.
  if ('error' in end) {
    noteLeft(run, { path, frame: root });
    root.unwindInside();
  } else root.closeInside();
  run.checkpoints.delete(key);
}
