import type { CallContext } from '../../activities/calls/call-context';
import { currentCall } from '../../activities/calls/call-context';
import type { GenerateRequest } from '../../activities/models/models';
import { nameOfSegment } from '../../contract/record/agent-paths';
import { rootRunId } from '../../contract/record/child-runs';
import type { Json } from '../../contract/messages/messages';
import { runIdOf } from '../../contract/names';
import type { Said, Script } from './script';

/** What a model was asked, whole. */
export type ModelRequest = Omit<GenerateRequest, 'signal'> & { readonly model: string };

/** A request, and where in the run it was made. */
export interface Asked {
  /** The run, when it is that of an isolated agent, and the place of the agent in it. */
  readonly lane: string;
  readonly address: string;
  readonly attempt: number;
  readonly request: ModelRequest;
}

/** What a model said last, and to which attempt of which call. */
interface Spoken extends Pick<CallContext, 'runId' | 'attempt'> {
  readonly count: number;
  readonly address: string;
  readonly said: Said;
}

/** What models and tools of one run, and of the isolated agents in it, were asked. */
export interface Play {
  readonly script: Script;
  /** By lane in order: the calls of an agent's model come one after another. */
  readonly asked: Asked[];
  /** Models that a hook asks beside, in parallel calls too. */
  readonly askedBeside: Json[];
  readonly used: Json[];
  /** What was said last in a lane, in which call, and how much was said before. */
  readonly lanes: Map<string, Spoken>;
  /** Until then no call goes on. */
  held?: Promise<void>;
}

const plays = new Map<string, Play>();

/** The run of that id is the play from now on: the same in memory first and on the server then. */
export function beginPlay(runId: string, script: Script): Play {
  const play: Play = { script, asked: [], askedBeside: [], used: [], lanes: new Map() };
  plays.set(runId, play);
  return play;
}

/** Lets all calls of a run wait until the returned function is called. */
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

/** What a call of a model or a tool does to its play. On a worker that is a process of its own it is told to the one that has the plays. */
export type Line =
  | { readonly is: 'asked'; readonly request: ModelRequest }
  | { readonly is: 'asked beside'; readonly request: Json }
  | { readonly is: 'used'; readonly call: Json }
  /** Whether a call with this idempotency key was made. */
  | { readonly is: 'asked whether'; readonly key: string };

export type Tell = (call: CallContext, line: Line) => Said | undefined | Promise<Said | undefined>;

/** In the process that has the plays. */
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

/** Somebody else has the plays. */
export function tellElsewhere(elsewhere: Tell): void {
  tell = elsewhere;
}

/** Tells of the call at hand. */
export async function told(line: Line): Promise<Said | undefined> {
  const call = currentCall();
  if (call === undefined) throw new Error('This is no call of a run.');
  return tell(call, line);
}

function saidTo(play: Play, { workflowId, runId, activityId, attempt }: CallContext, request: ModelRequest): Said {
  const inner = runIdOf(workflowId).split('~').slice(1).join('~');
  const place = activityId.replace(/\/t\d+\/[^/]*$/, '');
  const agent = nameOfSegment(place.slice(place.lastIndexOf('/') + 1));
  // What an agent says on its next turn follows what it said before, wherever it is handed over to; as a tool it begins anew for each call.
  const segments = place.split('/');
  const begun = segments.length - [...segments].reverse().findIndex((segment) => /[@!]/.test(segment));
  const lane = `${inner} ${[...(begun > segments.length ? [] : segments.slice(0, begun)), agent].join('/')}`;
  const before = play.lanes.get(lane);
  play.asked.push({ lane, address: activityId, attempt, request });
  if (before?.address === activityId) {
    // An answer that was lost with its worker is said again.
    if (attempt > 1 && !('fails' in before.said)) return before.said;
    // The server made the call again while its worker stood still, and the first attempt goes on now.
    if (runId === before.runId && attempt < before.attempt) return before.said;
  }
  const { parts, said } = play.script;
  const count = before?.count ?? 0;
  const next = (parts?.[agent] ?? said)[count] ?? { says: 'The end.' };
  play.lanes.set(lane, { count: count + 1, runId, attempt, address: activityId, said: next });
  return next;
}
