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

export interface InterruptBase extends AskedInTime {
  /** Made from the address and an ordinal, and stable until answered. */
  readonly id: string;
  readonly address: readonly string[];
  readonly agent: string;
  /** In milliseconds since 1970. */
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
        /** The schema of edited arguments. Absent: checked when the call continues. */
        readonly inputSchema?: Json;
        /** Options of the run for the tool. */ readonly options?: JsonObject;
        /** Why an earlier decision failed. */ readonly problem?: string;
        /** Absent: an approval without a policy. */
        readonly policy?: AskingPolicy;
      }
    | { readonly kind: 'question' | 'in-doubt' | 'custom'; readonly info: Json; readonly answerSchema?: Json }
  );

/** `nothing`: the tool has no `reconcile`. `failed`: `reconcile` threw or gave no answer. */
export interface Reconciliation {
  readonly said: 'happened' | 'not-happened' | 'unknown' | 'nothing' | 'failed';
  readonly error?: string;
}

/** The `info` of an interrupt `in-doubt`: facts about a call with a lost result. */
export type InDoubtInfo = {
  readonly tool: string;
  readonly callId: string;
  readonly input: Json;
  readonly question: string;
  /** The idempotency key of all executions of the call. */
  readonly key?: string;
  /** How often the call was executed, if known. */
  readonly attempts?: number;
  /** When the first and last executions began, in milliseconds since 1970. */
  readonly firstAt?: number;
  readonly lastAt?: number;
  /** The worker of the last execution. */
  readonly worker?: string;
  readonly reconcile?: { readonly said: Reconciliation['said']; readonly error?: string };
};

export type InDoubtDecision = { readonly happened: true; readonly result: Json } | { readonly happened: false };

export interface Answer {
  readonly interruptId: string;
  readonly answer: Json;
  readonly by?: string;
  /** Roles of the answerer, claimed by the back end. */
  readonly roles?: readonly string[];
  /** How the name was proven. Absent: a claimed name. */
  readonly proof?: string;
  /** The hash of the shown arguments; a mismatch is refused. */
  readonly inputHash?: string;
  /** An answer with a known delivery id is ignored. */
  readonly delivery?: string;
  /** When the client took the answer, in milliseconds since 1970. Absent: when the run sees it. */
  readonly at?: number;
  /** A run passes the answer to an isolated agent, and logs it. */
  readonly handedOn?: true;
}

/** An answer at the deadline is late. */
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

/** The interrupt's code ended or continued without an answer. */
export function withdrawn(id: string): Failure {
  return { code: 'interrupt-withdrawn', message: `The interrupt "${id}" was withdrawn: the run does not wait for its answer any more.` };
}

/** Anybody who reaches the server can write a memo. */
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

/** The run decides; a client can check first. */
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

/** The tool checks its own rules later. */
function misfitOfEdit(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind !== 'approval') return undefined;
  const edited = recordOf(answer)['editedInput'];
  const misfit = edited === undefined ? undefined : misfitOfSchema(interrupt.inputSchema, edited as Json);
  return misfit === undefined ? undefined : `the edited arguments of ${interrupt.tool} are wrong, ${misfit}`;
}

function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Readable, safe in a URL, and stable for an effect of a frame. */
export function interruptId(address: readonly string[], n: number): string {
  const path = address.map(readable).join('.');
  return n === 0 ? path : `${path}.${n}`;
}

/** A name may have any character, so a hash separates equal readings. */
function readable(segment: string): string {
  const text = segment.replace(/[@!#~]/g, '~').replace(/[^A-Za-z0-9_~-]+/g, '-');
  return /^[A-Za-z0-9_@!#~:.-]*$/.test(segment) ? text : `${text}~${sha256(segment).slice(0, 6)}`;
}

/** Returns the id in the parent run. */
export function interruptIdAt(path: readonly string[], { id, address }: Pick<Interrupt, 'id' | 'address'>): string {
  const [root = ''] = address;
  const place = interruptId(path, 0);
  return id === root || id.startsWith(`${root}.`) ? `${place}${id.slice(root.length)}` : `${place}.${id}`;
}
