import { isStrings } from './check';
import type { Failure, Json, JsonObject } from './messages/messages';
import { misfitOfSchema } from './schema/schema-fit';
import { sha256 } from './sha256';

export interface InterruptBase {
  /** Made from the address and an ordinal; stays the same until answered. */
  readonly id: string;
  readonly address: readonly string[];
  readonly agent: string;
  /** Milliseconds since 1970. */
  readonly deadline?: number;
  /** Who may answer. Absent: anybody. */
  readonly by?: readonly string[];
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
      }
    | { readonly kind: 'question' | 'in-doubt' | 'custom'; readonly info: Json; readonly answerSchema?: Json }
  );

/** What a human can decide about a tool call. */
export type ApprovalDecision =
  | { readonly type: 'approve'; readonly editedInput?: Json; readonly forRestOfRun?: boolean }
  | { readonly type: 'reject'; readonly feedback?: string }
  | { readonly type: 'respond'; readonly output: Json };

/** What a human can say about a call of which nobody knows whether it happened. */
export type InDoubtDecision = { readonly happened: true; readonly result: Json } | { readonly happened: false };

export interface Answer {
  readonly interruptId: string;
  readonly answer: Json;
  readonly by?: string;
  /** The hash of the arguments that were shown; a mismatch is refused. */
  readonly inputHash?: string;
  /** One for each time that somebody answers: what is sent in two ways counts once. */
  readonly delivery?: string;
  /** When the server took it, in milliseconds since 1970. Said by a run that hands it on to an isolated agent. */
  readonly at?: number;
}

/** Why an interrupt takes no answer that the server took at this time, or nothing. The deadline comes first, the answer second. */
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

/** Nobody has answered it, and nobody need: the code that asked has ended, or goes on without an answer. */
export function withdrawn(id: string): Failure {
  return { code: 'interrupt-withdrawn', message: `The interrupt "${id}" was withdrawn: the run does not wait for its answer any more.` };
}

/** Whether a value is an interrupt as the kernel makes them. Anybody who reaches the server can write a memo. */
export function isInterrupt(value: unknown): value is Interrupt {
  const shown = record(value);
  if (shown === undefined) return false;
  const { id, address, agent, deadline, by, kind } = shown;
  if (typeof id !== 'string' || typeof agent !== 'string' || !isStrings(address)) return false;
  if (!isAbsentOr(deadline, 'number') || !(by === undefined || isStrings(by))) return false;
  if (kind !== 'approval') return (kind === 'question' || kind === 'in-doubt' || kind === 'custom') && shown['info'] !== undefined;
  return [shown['tool'], shown['callId'], shown['inputHash']].every((text) => typeof text === 'string') && shown['input'] !== undefined;
}

/** Why an interrupt does not take an answer, or nothing. The run says so, and whoever brings the answer can say it before. */
export function refusalOf(interrupt: Interrupt, answer: Answer): Failure | undefined {
  const { id, by } = interrupt;
  if (by !== undefined && (answer.by === undefined || !by.includes(answer.by))) {
    return {
      code: 'answer-forbidden',
      message: `Only ${by.join(', ')} may answer "${id}"; this answer came from ${answer.by ?? 'nobody'}.`,
    };
  }
  if (interrupt.kind === 'approval' && answer.inputHash !== undefined && answer.inputHash !== interrupt.inputHash) {
    return { code: 'answer-stale', message: `The decision about "${id}" was made for other arguments.` };
  }
  const misfit = misfitOf(interrupt, answer.answer) ?? misfitOfEdit(interrupt, answer.answer);
  return misfit === undefined ? undefined : { code: 'answer-invalid', message: `The answer to "${id}" does not fit: ${misfit}.` };
}

/** Says why an answer does not fit its interrupt, or nothing when it fits. */
export function misfitOf(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind === 'approval') return misfitOfDecision(answer);
  if (interrupt.kind === 'in-doubt') {
    const decision = record(answer);
    if (decision?.['happened'] === false) return undefined;
    if (decision?.['happened'] === true && 'result' in decision) return undefined;
    return 'an in-doubt call takes { "happened": false } or { "happened": true, "result": … }';
  }
  return misfitOfSchema(interrupt.answerSchema, answer);
}

/** Arguments that a person changed. Their coercions and rules of its own a tool looks at later. */
function misfitOfEdit(interrupt: Interrupt, answer: Json): string | undefined {
  if (interrupt.kind !== 'approval') return undefined;
  const edited = record(answer)?.['editedInput'];
  const misfit = edited === undefined ? undefined : misfitOfSchema(interrupt.inputSchema, edited as Json);
  return misfit === undefined ? undefined : `the edited arguments of ${interrupt.tool} are wrong, ${misfit}`;
}

function misfitOfDecision(answer: Json): string | undefined {
  const decision = record(answer);
  switch (decision?.['type']) {
    case 'approve':
      return (
        onlyKeys(decision, ['type', 'editedInput', 'forRestOfRun']) ??
        (isAbsentOr(decision['forRestOfRun'], 'boolean') ? undefined : 'forRestOfRun is true or false')
      );
    case 'reject':
      return onlyKeys(decision, ['type', 'feedback']) ?? (isAbsentOr(decision['feedback'], 'string') ? undefined : 'feedback is a text');
    case 'respond':
      return onlyKeys(decision, ['type', 'output']) ?? ('output' in decision ? undefined : 'respond needs an output');
    default:
      return 'an approval takes { "type": "approve" }, { "type": "reject" } or { "type": "respond", "output": … }';
  }
}

function onlyKeys(decision: Record<string, unknown>, known: readonly string[]): string | undefined {
  const unknown = Object.keys(decision).find((key) => !known.includes(key));
  return unknown === undefined ? undefined : `"${unknown}" is not a field of this decision; it has ${known.join(', ')}`;
}

function isAbsentOr(value: unknown, type: 'string' | 'boolean' | 'number'): boolean {
  return value === undefined || typeof value === type;
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** Readable, safe in a URL, and the same whenever the same frame asks for the same effect. */
export function interruptId(address: readonly string[], n: number): string {
  const path = address.map(readable).join('.');
  return n === 0 ? path : `${path}.${n}`;
}

/** Names of layers may have any character: those that would read the same are told apart. */
function readable(segment: string): string {
  const text = segment.replace(/[@!#~]/g, '~').replace(/[^A-Za-z0-9_~-]+/g, '-');
  return /^[A-Za-z0-9_@!#~:.-]*$/.test(segment) ? text : `${text}~${sha256(segment).slice(0, 6)}`;
}

/** The id that an interrupt of an isolated agent has in a run that the agent is part of: it begins with the agent's place there. */
export function interruptIdAt(path: readonly string[], { id, address }: Pick<Interrupt, 'id' | 'address'>): string {
  const [root = ''] = address;
  const place = interruptId(path, 0);
  return id === root || id.startsWith(`${root}.`) ? `${place}${id.slice(root.length)}` : `${place}.${id}`;
}
