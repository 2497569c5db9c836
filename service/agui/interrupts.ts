import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { textOfJson } from './content';
import type { AguiInterrupt } from './events';
import type { ResumeEntry } from './input';

/** What waits for somebody, in the protocol's own form. */
export function interruptOf(interrupt: Interrupt): AguiInterrupt {
  const { id, deadline, by, roles } = interrupt;
  const expiresAt = deadline === undefined ? undefined : new Date(deadline).toISOString();
  if (interrupt.kind !== 'approval') {
    const { kind, info, answerSchema } = interrupt;
    return {
      id,
      reason: kind === 'in-doubt' ? 'holdfast:in-doubt' : 'input_required',
      message: questionOf(info),
      ...defined({ expiresAt }),
      ...(kind === 'in-doubt' ? { responseSchema: inDoubtSchema } : isRecord(answerSchema) ? { responseSchema: answerSchema } : {}),
      metadata: { kind, info, ...defined({ by, roles }) },
    };
  }
  const { tool, callId, input, inputHash, inputSchema, problem, policy } = interrupt;
  return {
    id,
    reason: 'tool_call',
    message: problem ?? `May ${tool} be called?`,
    toolCallId: callId,
    responseSchema: approvalSchema(inputSchema),
    ...defined({ expiresAt }),
    metadata: { kind: 'approval', tool, input, inputHash, ...defined({ by, roles, problem, policy: policy as Json | undefined }) },
  };
}

function questionOf(info: Json): string {
  const asked = isRecord(info) ? info['question'] : undefined;
  return typeof asked === 'string' ? asked : textOfJson(info);
}

function approvalSchema(inputSchema: Json | undefined): Json {
  return {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      editedArgs: isRecord(inputSchema) ? inputSchema : { type: 'object' },
      reason: { type: 'string' },
    },
    required: ['approved'],
  };
}

const inDoubtSchema: Json = { type: 'object', properties: { happened: { type: 'boolean' }, result: {} }, required: ['happened'] };

export interface GivenAnswer {
  readonly answer: Json;
  readonly by?: string;
  readonly roles?: readonly string[];
  readonly inputHash?: string;
}

/** What an entry of `resume` says to an interrupt. */
export function answerTo({ kind }: Pick<Interrupt, 'kind'>, entry: ResumeEntry): GivenAnswer {
  return { answer: kind === 'approval' ? decisionOf(entry) : givenIn(entry), ...whoIn(entry) };
}

/** A decision in the protocol's form, or in that of Holdfast. */
function decisionOf({ interruptId, status, payload }: ResumeEntry): Json {
  if (status === 'cancelled') return { type: 'reject', feedback: 'Nobody decided about this call.' };
  if (isRecord(payload)) {
    const { type, approved, reason, editedArgs } = payload;
    if (typeof type === 'string' && approved === undefined) return payload;
    const text = typeof reason === 'string' && reason !== '' ? reason : undefined;
    if (approved === true) return { type: 'approve', ...defined({ editedInput: editedArgs, comment: text }) };
    if (approved === false) return { type: 'reject', ...defined({ feedback: text }) };
  }
  throw new HoldfastError('answer-invalid', `The payload for "${interruptId}" must have \`approved\`, which is true or false.`);
}

function givenIn({ interruptId, status, payload }: ResumeEntry): Json {
  if (status === 'cancelled')
    throw new HoldfastError('answer-invalid', `"${interruptId}" cannot be cancelled: the agent needs an answer to go on.`);
  if (payload !== undefined) return payload;
  throw new HoldfastError('answer-invalid', `The entry for "${interruptId}" has no payload.`);
}

/** Who answers, as whoever serves the page says. */
function whoIn({ metadata }: ResumeEntry): Omit<GivenAnswer, 'answer'> {
  const { by, roles, inputHash } = metadata ?? {};
  return defined({
    by: typeof by === 'string' ? by : undefined,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : undefined,
    inputHash: typeof inputHash === 'string' ? inputHash : undefined,
  });
}
