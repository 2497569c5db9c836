import { defined } from '../../contract/defined';
import { HoldfastError, codeOf } from '../../contract/errors';
import type { StoredMessage } from '../../contract/messages/messages';
import type { RetryMode } from '../../contract/record/wire';
import type { AgentDefinition } from '../define/definition';
import type { ModelRequest } from '../define/middleware';
import { asked } from './agent-functions';
import { asleep } from '../run/interrupts/asleep';
import { failoverChoice } from './failover-choice';
import type { Frame } from '../effects/frames';
import { frozen } from '../../contract/freeze';
import type { AttemptEnd, StoredResponse } from '../calls/model-call';
import { detailsOf, withNamedCalls } from '../calls/model-call';
import type { ModelError } from '../define/retry-options';
import { retryVerdict } from './retry-verdict';
import type { AgentScope } from '../run/scope';
import { errorOf, failureOf, isCancellation } from '../effects/errors';

export interface Kept {
  readonly persisted?: readonly StoredMessage[];
  readonly begin?: string;
}

interface CycleEnd<Response extends StoredResponse> extends AttemptEnd<Response> {
  readonly attempt: number;
  readonly persisted?: readonly StoredMessage[];
}

type ModelCaller<Response> = (request: ModelRequest<StoredMessage>, frame: Frame) => Promise<Response>;

export function retryModeOf({ retry, failover }: AgentDefinition, streams: boolean): RetryMode | undefined {
  if (retry === undefined && failover === undefined) return undefined;
  return streams && (retry?.shouldRetry ?? failover?.shouldFailover) !== undefined ? 'kernel-partial' : 'kernel';
}

export async function modelAttempts<Response extends StoredResponse>(
  scope: AgentScope,
  request: ModelRequest<StoredMessage>,
  frame: Frame,
  call: ModelCaller<Response>,
): Promise<Response & Kept> {
  const { failover } = scope.agent;
  let { model, messages } = { ...request, model: (failover === undefined ? undefined : scope.record.model) ?? request.model };
  let persisted: readonly StoredMessage[] | undefined;
  const tried: string[] = [];
  for (let number = 0; ; number++) {
    tried.push(model);
    const end = await retryCycle(scope, { ...request, model, messages }, frame.child(`model${number}`), call);
    const { response, error } = end;
    persisted = end.persisted ?? persisted;
    if (response !== undefined && error === undefined) {
      frame.close();
      return { ...response, ...defined({ persisted }), ...(failover === undefined ? {} : { begin: model }) };
    }
    const failure = error ?? { code: 'internal', message: 'A model call ended with nothing.' };
    const output = response?.message ?? end.partial;
    const choice =
      failover === undefined || number >= failover.maxRetries
        ? null
        : frame.once('failover', () =>
            failoverChoice(scope, failover, {
              number: number + 1,
              attempt: end.attempt,
              error: failure,
              output,
              request,
              tried: [...tried],
            }),
          );
    if (choice === null) {
      const text = givenUp(scope, failure, frame);
      if (text !== undefined) {
        const message: StoredMessage = { id: text.id, role: 'assistant', parts: [{ type: 'text', text: text.text }] };
        frame.close();
        return { message, model: `agent/${scope.agent.name}`, ...defined({ persisted }) } as Response & Kept;
      }
      frame.unwind();
      throw errorOf({ code: failure.code, message: failure.message });
    }
    ({ model, messages = request.messages } = choice);
  }
}

function givenUp(scope: AgentScope, error: ModelError, frame: Frame): { readonly id: string; readonly text: string } | undefined {
  const { agent, run } = scope;
  const { retry } = agent;
  if (retry?.giveUp === undefined) return undefined;
  const label = `giveUp of agent "${agent.name}"`;
  const text: unknown = asked(label, () => retry.giveUp?.(frozen(error)));
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') throw new HoldfastError('hook-failed', `${label} returned ${typeof text}; it returns a text, or nothing.`);
  return { id: frame.once('give-up', () => run.ports.uuid()), text };
}

async function retryCycle<Response extends StoredResponse>(
  scope: AgentScope,
  request: ModelRequest<StoredMessage>,
  frame: Frame,
  call: ModelCaller<Response>,
): Promise<CycleEnd<Response>> {
  const { retry } = scope.agent;
  let current = request;
  let persisted: readonly StoredMessage[] | undefined;
  for (let attempt = 0; ; attempt++) {
    const inner = frame.child(`attempt${attempt}`);
    const end = await frame.effect('attempt', () => ended(() => call(current, inner)));
    const kept = persisted === undefined ? {} : { persisted };
    const { cancelled } = scope.run.ports;
    if (cancelled && end.error !== undefined) throw new HoldfastError('cancelled', 'The run was cancelled.');
    // An answer of a cancelled run, even a partial answer, is not judged.
    if (retry === undefined || cancelled || end.response?.finish === 'cancelled') return { ...end, attempt };
    const verdict = frame.once('verdict', () => retryVerdict(scope, retry, { attempt, request: current, end }));
    if (verdict.do === 'accept') return { ...end, ...kept, attempt };
    if (verdict.do === 'fail') return { ...end, ...kept, error: verdict.error, attempt };
    const { messages = current.messages, persist, settings } = verdict;
    if (persist === true) persisted = messages;
    current = { ...current, messages, ...(settings === undefined ? {} : { settings: { ...current.settings, ...settings } }) };
    await asleep(frame, 'backoff', () => scope.run.ports.sleep(frame.key, verdict.until));
  }
}

/** Errors that another call would meet again, or that end a wait. */
const final: readonly string[] = [
  'input-invalid',
  'interrupt-expired',
  'frame-changed',
  'next-left-running',
  'outside-run',
  'call-limit',
  'budget-spent',
  'pii-found',
  'internal',
];

async function ended<Response extends StoredResponse>(call: () => Promise<Response>): Promise<AttemptEnd<Response>> {
  try {
    return { response: withNamedCalls(await call()) };
  } catch (error) {
    if (isCancellation(error) || final.includes(codeOf(error) ?? '')) throw error;
    const { partial, ...advice } = detailsOf(error);
    return { error: { ...failureOf(error), ...advice }, ...defined({ partial }) };
  }
}
