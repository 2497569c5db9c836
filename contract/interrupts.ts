import type { Fields } from './check';
import { isAbsentOr, isRecord, isStrings } from './check';
import type { AskingPolicy } from './decisions';
import { appliesPolicy, misfitOfDecision } from './decisions';
import type { Failure, Json, JsonObject } from './messages/messages';
import { misfitOfSchema } from './schema/schema-fit';
import { isPlan } from './policies';
import { sha256 } from './sha256';
import type { AskedInTime } from './who-may-answer';
import { whyNot } from './who-may-answer';
import type { People } from './people';
import { people } from './people';

/** `by` absent, and `roles` as well: anybody may answer. */
export interface InterruptBase extends AskedInTime {
  /** Made from the address and an ordinal; stays the same until answered. */
  readonly id: string;
  readonly address: readonly string[];
  readonly agent: string;
  /** Milliseconds since 1970. */
  readonly deadline?: number;
}

export type Interrupt = InterruptBase &
  (
    | {
        readonly kind: 'approval';
        readonly tool: string;
        readonly callId: string;
        readonly input: Json;
        readonly inputHash: string;
        /** The schema of the tool, which edited arguments have to fit. Absent: they are looked at when the call goes on. */
        readonly inputSchema?: Json;
        /** What the tool gets besides its arguments. */ readonly options?: JsonObject;
        /** Why an earlier decision could not be carried out. */ readonly problem?: string;
        /** The policy that asks. Absent: an approval without one. */
        readonly policy?: AskingPolicy;
      }
    | { readonly kind: 'question' | 'in-doubt' | 'custom'; readonly info: Json; readonly answerSchema?: Json }
  );

/** What a tool said that was asked whether a call took effect. `nothing`: it has no `reconcile`. `failed`: that threw, or gave no answer. */
export interface Reconciliation {
  readonly said: 'happened' | 'not-happened' | 'unknown' | 'nothing' | 'failed';
  readonly error?: string;
}

/** The `info` of an interrupt `in-doubt`: what a person needs to find out whether a call took effect. */
export type InDoubtInfo = {
  readonly tool: string;
  readonly callId: string;
  readonly input: Json;
  readonly question: string;
  /** The idempotency key of all executions of the call. */
  readonly key?: string;
  /** How often the call was executed, as far as anybody knows. */
  readonly attempts?: number;
  /** When the first and the last of these executions began, in milliseconds since 1970. */
  readonly firstAt?: number;
  readonly lastAt?: number;
  /** Which worker had the last one, where it could say so. */
  readonly worker?: string;
  readonly reconcile?: { readonly said: Reconciliation['said']; readonly error?: string };
};

/** What a human can say about a call of which nobody knows whether it happened. */
export type InDoubtDecision = { readonly happened: true; readonly result: Json } | { readonly happened: false };

export interface Answer {
  readonly interruptId: string;
  readonly answer: Json;
  readonly by?: string;
  /** Roles of whoever answers, as the back end says. */
  readonly roles?: readonly string[];
  /** The hash of the arguments that were shown; a mismatch is refused. */
  readonly inputHash?: string;
  /** One for each time that somebody answers: what is sent in two ways counts once. */
  readonly delivery?: string;
  /** When the client took the answer from whoever gave it, in milliseconds since 1970. Absent: when the run sees it. */
  readonly at?: number;
  /** A run hands the answer on to an isolated agent, and tells of it. */
  readonly handedOn?: true;
}

/** Why an interrupt takes no answer from this time. The deadline comes first. */
export function latenessOf({ id, deadline }: Pick<Interrupt, 'id' | 'deadline'>, at: number): Failure | undefined {
  return deadline === undefined || at < deadline ? undefined : expired(id, deadline);
}

export function expired(id: string, deadline?: number): Failure {
  const when = deadline === undefined ? '' : ` Its deadline was ${new Date(deadline).toISOString()}.`;
  return { code: 'interrupt-expired', message: `Nobody answered "${id}" in time.${when}` };
}

export function answeredBefore(id: string): Failure {
  return { code: 'interrupt-answered', message: `The interrupt "${id}" was answered before.` };
}

/** Nobody need answer: the code has ended, or goes on without. */
export function withdrawn(id: string): Failure {
  return { code: 'interrupt-withdrawn', message: `The interrupt "${id}" was withdrawn: the run does not wait for its answer any more.` };
}

/** Whether a value is an interrupt of the kernel. Anybody who reaches the server can write a memo. */
export function isInterrupt(value: unknown): value is Interrupt {
  const shown = recordOf(value);
  const { id, address, agent, deadline, by, roles, notBy, steps, kind } = shown;
  if (typeof id !== 'string' || typeof agent !== 'string' || !isStrings(address)) return false;
  if (!isAbsentOr(deadline, (time) => typeof time === 'number') || ![by, roles, notBy].every((list) => isAbsentOr(list, isStrings)))
    return false;
  if (!(steps === undefined || (Array.isArray(steps) && steps.every(isStep)))) return false;
  if (kind !== 'approval') return (kind === 'question' || kind === 'in-doubt' || kind === 'custom') && shown['info'] !== undefined;
  if (shown['policy'] !== undefined && !isPolicy(shown['policy'])) return false;
  return [shown['tool'], shown['callId'], shown['inputHash']].every((text) => typeof text === 'string') && shown['input'] !== undefined;
}

function isPolicy(policy: unknown): boolean {
  const { name, version, stage, given, plan } = recordOf(policy);
  const { number, of, need } = recordOf(stage);
  const isGiven = (one: unknown): boolean => typeof recordOf(one)['type'] === 'string';
  return (
    [name, version].every((text) => typeof text === 'string') &&
    [number, of, need].every((count) => typeof count === 'number') &&
    Array.isArray(given) &&
    given.every(isGiven) &&
    (plan === undefined || isPlan(plan))
  );
}

function isStep(step: unknown): boolean {
  const { at, type, by, roles } = recordOf(step);
  if (typeof at !== 'number' || (type !== 'remind' && type !== 'escalate')) return false;
  return [by, roles].every((list) => isAbsentOr(list, isStrings));
}

/** Why an interrupt does not take an answer from this time. The run says so, and a client can check it before. */
export function refusalOf(interrupt: Interrupt, answer: Answer, at: number, known: People = people): Failure | undefined {
  const { id } = interrupt;
  const isApplied = interrupt.kind === 'approval' && appliesPolicy(answer.answer, interrupt.policy);
  const forbidden = isApplied ? undefined : whyNot(interrupt, answer, at, known);
  if (forbidden !== undefined) return forbidden;
  if (interrupt.kind === 'approval' && answer.inputHash !== undefined && answer.inputHash !== interrupt.inputHash) {
    return { code: 'answer-stale', message: `The decision about "${id}" was made for other arguments.` };
  }
  const misfit = misfitOf(interrupt, answer.answer, answer.by, known) ?? misfitOfEdit(interrupt, answer.answer);
  return misfit === undefined ? undefined : { code: 'answer-invalid', message: `The answer to "${id}" does not fit: ${misfit}.` };
}

export function misfitOf(interrupt: Interrupt, answer: Json, by?: string, known: People = people): string | undefined {
  if (interrupt.kind === 'approval') return misfitOfDecision(answer, interrupt, by, known);
  if (interrupt.kind === 'in-doubt') {
    const decision = recordOf(answer);
    if (decision['happened'] === false || (decision['happened'] === true && 'result' in decision)) return undefined;
    return 'an in-doubt call takes { "happened": false } or { "happened": true, "result": … }';
  }
  return misfitOfSchema(interrupt.answerSchema, answer);
}

/** Edited arguments. The tool checks its own rules later. */
function misfitOfEdit(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind !== 'approval') return undefined;
  const edited = recordOf(answer)['editedInput'];
  const misfit = edited === undefined ? undefined : misfitOfSchema(interrupt.inputSchema, edited as Json);
  return misfit === undefined ? undefined : `the edited arguments of ${interrupt.tool} are wrong, ${misfit}`;
}

function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Readable, safe in a URL, and stable for the same effect of the same frame. */
export function interruptId(address: readonly string[], n: number): string {
  const path = address.map(readable).join('.');
  return n === 0 ? path : `${path}.${n}`;
}

/** Names of layers may have any character, so equal readings are told apart by a hash. */
function readable(segment: string): string {
  const text = segment.replace(/[@!#~]/g, '~').replace(/[^A-Za-z0-9_~-]+/g, '-');
  return /^[A-Za-z0-9_@!#~:.-]*$/.test(segment) ? text : `${text}~${sha256(segment).slice(0, 6)}`;
}

/** The id in the parent run, which begins with the place of the agent. */
export function interruptIdAt(path: readonly string[], { id, address }: Pick<Interrupt, 'id' | 'address'>): string {
  const [root = ''] = address;
  const place = interruptId(path, 0);
  return id === root || id.startsWith(`${root}.`) ? `${place}${id.slice(root.length)}` : `${place}.${id}`;
}
