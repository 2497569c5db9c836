import type { CallContext } from '../../activities/calls/call-context';
import { currentCall } from '../../activities/calls/call-context';
import type { GenerateRequest } from '../../activities/models/language-model';
import { nameOfSegment } from '../../contract/record/agent-paths';
import { rootRunId } from '../../contract/record/child-runs';
import type { Json } from '../../contract/messages/messages';
import { runIdOf } from '../../contract/names';
import type { Said, Script } from './script';

export type ModelRequest = Omit<GenerateRequest, 'signal'> & { readonly model: string };

export interface Asked {
  readonly lane: string;
  readonly address: string;
  readonly attempt: number;
  readonly request: ModelRequest;
}

interface Spoken extends Pick<CallContext, 'runId' | 'attempt'> {
  readonly count: number;
  readonly address: string;
  readonly said: Said;
}

export interface Play {
  readonly script: Script;
  /** In order per agent, because an agent's model calls come one after another. */
  readonly asked: Asked[];
  readonly askedBeside: Json[];
  readonly used: Json[];
  readonly lanes: Map<string, Spoken>;
  held?: Promise<void>;
}

const plays = new Map<string, Play>();

/** The run id belongs to this play from now on: first in memory, then on the server. */
export function beginPlay(runId: string, script: Script): Play {
  const play: Play = { script, asked: [], askedBeside: [], used: [], lanes: new Map() };
  plays.set(runId, play);
  return play;
}

export function holdCalls(runId: string): () => void {
  const play = plays.get(runId);
  if (play === undefined) throw new Error(`No play has the run ${runId}.`);
  let release: () => void = () => undefined;
  play.held = new Promise((resolve) => (release = resolve));
  return () => {
    delete play.held;
    release();
  };
}

/** A worker in another process sends the effect of a call to the process with the plays. */
export type Line =
  | { readonly is: 'asked'; readonly request: ModelRequest }
  | { readonly is: 'asked beside'; readonly request: Json }
  | { readonly is: 'used'; readonly call: Json }
  | { readonly is: 'asked whether'; readonly key: string };

export type Tell = (call: CallContext, line: Line) => Said | undefined | Promise<Said | undefined>;

export const tellHere: Tell = (call, line) => {
  const play = plays.get(rootRunId(runIdOf(call.workflowId)));
  if (play === undefined) throw Object.assign(new Error(`No play has the run ${call.workflowId}.`), { isRetryable: false });
  return play.held === undefined ? take(play, call, line) : play.held.then(() => take(play, call, line));
};

function take(play: Play, call: CallContext, line: Line): Said | undefined {
  if (line.is === 'asked') return saidTo(play, call, line.request);
  if (line.is === 'asked whether')
    return play.used.some((one) => (one as { readonly idempotencyKey?: string }).idempotencyKey === line.key) ? { says: 'yes' } : undefined;
  if (line.is === 'used') play.used.push(line.call);
  else play.askedBeside.push(line.request);
  return undefined;
}

let tell: Tell = tellHere;

export function tellElsewhere(elsewhere: Tell): void {
  tell = elsewhere;
}

export async function told(line: Line): Promise<Said | undefined> {
  const call = currentCall();
  if (call === undefined) throw new Error('This is no call of a run.');
  return tell(call, line);
}

function saidTo(play: Play, { workflowId, runId, activityId, attempt }: CallContext, request: ModelRequest): Said {
  const inner = runIdOf(workflowId).split('~').slice(1).join('~');
  const place = activityId.replace(/\/t\d+\/[^/]*$/, '');
  const agent = nameOfSegment(place.slice(place.lastIndexOf('/') + 1));
  // An agent's text follows its earlier text across handovers; as a tool the agent begins anew in every call.
  const segments = place.split('/');
  const begun = segments.length - [...segments].reverse().findIndex((segment) => /[@!]/.test(segment));
  const lane = `${inner} ${[...(begun > segments.length ? [] : segments.slice(0, begun)), agent].join('/')}`;
  const before = play.lanes.get(lane);
  play.asked.push({ lane, address: activityId, attempt, request });
  if (before?.address === activityId) {
    // An answer lost with the worker is repeated.
    if (attempt > 1 && !('fails' in before.said)) return before.said;
    // The server repeated the call while the worker was stopped, and now the first attempt continues.
    if (runId === before.runId && attempt < before.attempt) return before.said;
  }
  const { parts, said } = play.script;
  const count = before?.count ?? 0;
  const next = (parts?.[agent] ?? said)[count] ?? { says: 'The end.' };
  play.lanes.set(lane, { count: count + 1, runId, attempt, address: activityId, said: next });
  return next;
}
