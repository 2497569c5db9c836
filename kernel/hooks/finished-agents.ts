import type { Frame } from '../effects/frames';
import { noteLeft } from '../run/left-agents';
import type { AgentScope } from '../run/scope';
import type { FinishedAgent } from '../run/state';
import { errorOf } from '../effects/errors';

/**
 * How agents have ended whose observers are not all told. An observer may wait while the agent is closed. After a continue-as-new the agent does not
 * run again, and the other observers are told.
 */

/** Throws if the agent has failed. Undefined: the agent has not ended. */
export function keptResult<Result>({ run, path }: AgentScope): Result | undefined {
  const kept = run.state.ends?.[path.join('/')];
  if (kept === undefined) return undefined;
  if ('error' in kept) throw errorOf(kept.error);
  return kept.result as unknown as Result;
}

/** A new object, because a snapshot may have the old object. */
export function forgetEnd({ run: { state }, path }: AgentScope): void {
  const { [path.join('/')]: kept, ...others } = state.ends ?? {};
  if (kept === undefined) return;
  if (Object.keys(others).length === 0) delete state.ends;
  else state.ends = others;
}

export function keepEnd({ run, path }: AgentScope, root: Frame, end: FinishedAgent): void {
  const key = path.join('/');
  // After a continue-as-new the end is there, and observers work inside of the frame.
  if (run.state.ends?.[key] !== undefined) return;
  run.state.ends = { ...run.state.ends, [key]: end };
  // The agent is not entered again, so its inner frames are not needed, and its words go over the continue-as-new.
  if ('error' in end) {
    noteLeft(run, { path, frame: root });
    root.unwindInside();
  } else root.closeInside();
  run.checkpoints.delete(key);
}
