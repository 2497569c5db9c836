import type { AnswerOptions } from '../../client/index';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { answerSchemaOf, decisionIn, questionOf } from '../projection/answers';
import type { AguiInterrupt } from './events';
import type { ResumeEntry } from './input';

export function interruptOf(interrupt: Interrupt): AguiInterrupt {
  const { id, deadline, by, roles } = interrupt;
  const expiresAt = deadline === undefined ? undefined : new Date(deadline).toISOString();
  const shown = { message: questionOf(interrupt), ...defined({ responseSchema: answerSchemaOf(interrupt), expiresAt }) };
  if (interrupt.kind !== 'approval') {
    const { kind, info } = interrupt;
    const reason = kind === 'in-doubt' ? 'holdfast:in-doubt' : 'input_required';
    return { id, reason, ...shown, metadata: { kind, info, ...defined({ by, roles }) } };
  }
  const { tool, callId, input, inputHash, problem, policy } = interrupt;
  return {
    id,
    reason: 'tool_call',
    ...shown,
    toolCallId: callId,
    metadata: { kind: 'approval', tool, input, inputHash, ...defined({ by, roles, problem, policy: policy as Json | undefined }) },
  };
}

export interface GivenAnswer extends AnswerOptions {
  readonly answer: Json;
}

export function answerTo({ kind }: Pick<Interrupt, 'kind'>, entry: ResumeEntry): GivenAnswer {
  return { answer: kind === 'approval' ? decisionOf(entry) : givenIn(entry), ...whoIn(entry) };
}

function decisionOf({ interruptId, status, payload }: ResumeEntry): Json {
  if (status === 'cancelled') return { type: 'reject', feedback: 'Nobody decided about this call.' };
  return decisionIn(interruptId, payload);
}

function givenIn({ interruptId, status, payload }: ResumeEntry): Json {
  if (status === 'cancelled')
    throw new HoldfastError('answer-invalid', `"${interruptId}" cannot be cancelled: the agent needs an answer to go on.`);
  if (payload !== undefined) return payload;
  throw new HoldfastError('answer-invalid', `The entry for "${interruptId}" has no payload.`);
}

function whoIn({ metadata }: ResumeEntry): AnswerOptions {
  const { by, roles, inputHash } = metadata ?? {};
  return defined({
    by: typeof by === 'string' ? by : undefined,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : undefined,
    inputHash: typeof inputHash === 'string' ? inputHash : undefined,
  });
}
