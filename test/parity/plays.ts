import { currentCall } from '../../activities/call-context';
import type { GenerateRequest } from '../../activities/models';
import type { Json } from '../../contract/plain/messages';
import type { Script } from './script';

/** What models and tools of one run were asked. */
export interface Play {
  readonly script: Script;
  /** In order: the calls of a run's model come one after another. */
  readonly asked: (Omit<GenerateRequest, 'signal' | 'tools'> & { readonly model: string; readonly tools: readonly string[] })[];
  /** Models that a hook asks beside, in parallel calls too. */
  readonly askedBeside: Json[];
  readonly used: Json[];
  /** How many calls of models and tools were made again. */
  again: number;
}

const plays = new Map<string, Play>();

/** The run of that id is the play from now on: the same in memory first and on the server then. */
export function beginPlay(runId: string, script: Script): Play {
  const play: Play = { script, asked: [], askedBeside: [], used: [], again: 0 };
  plays.set(`default/${runId}`, play);
  return play;
}

/** The play that the call at hand belongs to, on the worker or in memory. */
export function currentPlay(): Play {
  const call = currentCall();
  const play = plays.get(call?.workflowId ?? '');
  if (play === undefined) throw Object.assign(new Error(`No play has the run ${call?.workflowId}.`), { isRetryable: false });
  return play;
}
