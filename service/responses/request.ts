import { z } from 'zod';
import { isRecord } from '../../contract/check';
import type { ClientTool } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { Message, Part } from '../../contract/messages/messages';
import { shown } from '../../contract/shown';
import { parse } from '../http/parse-request';
import { count, roles, shortText, unread } from '../http/schemas';
import { ResponseContent, partsIn } from './content';

export const StreamQuery = z.strictObject({
  stream: z.enum(['true', 'false']).optional(),
  starting_after: count.optional(),
  include: z.array(z.string()).optional(),
  'include[]': z.array(z.string()).optional(),
  include_obfuscation: z.string().optional(),
});

/** Fields that the service ignores, or refuses below. */
const ofOpenAi = {
  ...{
    conversation: unread,
    prompt: unread,
    instructions: unread,
    tool_choice: unread,
    text: unread,
    store: unread,
    include: unread,
    user: unread,
  },
  ...{
    temperature: unread,
    top_p: unread,
    top_logprobs: unread,
    truncation: unread,
    reasoning: unread,
    moderation: unread,
    service_tier: unread,
  },
  ...{ max_output_tokens: unread, max_tool_calls: unread, parallel_tool_calls: unread, safety_identifier: unread, stream_options: unread },
  ...{ prompt_cache_key: unread, prompt_cache_options: unread, prompt_cache_retention: unread, context_management: unread },
};

export const CreateBody = z.strictObject({
  ...ofOpenAi,
  model: z.string().min(1),
  input: z.union([z.string(), z.array(z.looseObject({})).max(10_000)]).nullish(),
  previous_response_id: z.string().nullish(),
  metadata: z
    .record(z.string().max(64), z.string().max(512))
    .refine((pairs) => Object.keys(pairs).length <= 16, 'has more than 16 pairs')
    .nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  tools: z.array(z.looseObject({})).max(limits.clientTools).nullish(),
  by: shortText.optional(),
  roles: roles.optional(),
});
export type CreateBody = z.infer<typeof CreateBody>;

const MessageItem = z.looseObject({ role: z.enum(['user', 'assistant', 'system', 'developer']), content: ResponseContent });
const ApprovalItem = z.looseObject({
  approval_request_id: z.string().min(1),
  approve: z.boolean(),
  reason: z.string().nullish(),
});
const ResultItem = z.looseObject({ call_id: z.string().min(1), output: ResponseContent });

export interface GivenApproval {
  readonly id: string;
  readonly approve: boolean;
  readonly reason?: string;
}

export interface GivenResult {
  readonly callId: string;
  readonly output: string;
}

export type ResponseWish =
  | {
      readonly type: 'say';
      readonly content: readonly Part[];
      readonly before: readonly Message[];
    }
  /** Without answers, the response continues after another client's answer. */
  | { readonly type: 'answer'; readonly approvals: readonly GivenApproval[]; readonly results: readonly GivenResult[] };

export function wishOf(body: CreateBody): ResponseWish {
  refuseUnsupported(body);
  const { input } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  const read = items.map(readItem);
  // The log has all items before the last item of an output.
  const begin = read.map(({ type }) => type).lastIndexOf('past') + 1;
  const said = read.slice(begin).flatMap((item) => (item.type === 'user' ? item.parts : []));
  const approvals = read.slice(begin).flatMap((item) => (item.type === 'approval' ? [item.approval] : []));
  const results = read.slice(begin).flatMap((item) => (item.type === 'result' ? [item.result] : []));
  const hasAnswers = approvals.length > 0 || results.length > 0;
  const goesOn = typeof body.previous_response_id === 'string';
  if (said.length > 0 && hasAnswers)
    throw new HoldfastError(
      'request-invalid',
      'The input has answers and messages. Send the answers first, and the message after the response.',
    );
  if (!goesOn && hasAnswers)
    throw new HoldfastError('request-invalid', 'The input has answers. Name the response that asks with `previous_response_id`.');
  if (said.length > 0) {
    const before = read.slice(0, begin).flatMap((item): readonly Message[] => {
      if (item.type === 'user') return [{ role: 'user', parts: item.parts }];
      return item.type === 'past' && item.parts !== undefined ? [{ role: 'assistant', parts: item.parts }] : [];
    });
    return { type: 'say', content: said, before: goesOn ? [] : before };
  }
  if (!goesOn) throw new HoldfastError('request-invalid', 'The input has no message of the role user at its end.');
  return { type: 'answer', approvals, results };
}

type ReadItem =
  | { readonly type: 'user'; readonly parts: readonly Part[] }
  | { readonly type: 'approval'; readonly approval: GivenApproval }
  | { readonly type: 'result'; readonly result: GivenResult }
  | { readonly type: 'past'; readonly parts?: readonly Part[] };

const past = ['reasoning', 'mcp_call', 'mcp_approval_request', 'mcp_list_tools', 'function_call', 'item_reference'];

function readItem(item: Readonly<Record<string, unknown>>, position: number): ReadItem {
  const { type = 'message' } = item;
  const what = `Item ${position + 1} of the input`;
  if (type === 'mcp_approval_response') {
    const { approval_request_id: id, approve, reason } = parse(ApprovalItem, item, what);
    return { type: 'approval', approval: { id, approve, ...defined({ reason: reason ?? undefined }) } };
  }
  if (type === 'function_call_output') {
    const { call_id: callId, output } = parse(ResultItem, item, what);
    const texts = partsIn(output).flatMap((part) => (part.type === 'text' ? [part.text] : []));
    return { type: 'result', result: { callId, output: texts.join('\n') } };
  }
  if (past.includes(type as string)) return { type: 'past' };
  if (type !== 'message') throw new HoldfastError('request-unsupported', `${what} has the type ${shown(type)}.`);
  const { role, content } = parse(MessageItem, item, what);
  if (role === 'user') return { type: 'user', parts: partsIn(content) };
  if (role === 'assistant') return { type: 'past', parts: partsIn(content) };
  throw new HoldfastError('request-unsupported', `${what} has the role ${role}. The agent has its own instructions.`);
}

const FunctionTool = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.json()).nullish(),
});

/** An agent has no tools of OpenAI, such as a search. */
export function toolsIn({ tools }: CreateBody): readonly ClientTool[] {
  return (tools ?? []).map((tool, position) => {
    if (tool['type'] !== 'function')
      throw new HoldfastError(
        'request-unsupported',
        `\`tools[${position}]\` has the type ${shown(tool['type'])}. Only functions are taken.`,
      );
    const { name, description, parameters } = parse(FunctionTool, tool, `\`tools[${position}]\``);
    return { name, ...defined({ description: description ?? undefined, inputSchema: parameters ?? undefined }) };
  });
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const unsupported: readonly (readonly [field: keyof CreateBody, isMeant: (value: unknown) => boolean, why: string])[] = [
  ['conversation', isGiven, 'A response goes on after the one that `previous_response_id` names.'],
  ['prompt', isGiven, 'The agent has its own prompt.'],
  ['instructions', isGiven, 'The agent has its own instructions.'],
  ['tool_choice', (choice) => isGiven(choice) && choice !== 'auto', 'The agent decides which tools it calls.'],
  [
    'text',
    (text) => isRecord(text) && isRecord(text['format']) && text['format']['type'] !== 'text',
    'The agent says what its output looks like.',
  ],
  ['store', (store) => store === false, 'The log of a conversation is always kept.'],
];

function refuseUnsupported(body: CreateBody): void {
  const meant = unsupported.find(([field, isMeant]) => isMeant(body[field]));
  if (meant !== undefined) throw new HoldfastError('request-unsupported', `\`${meant[0]}\` cannot be given. ${meant[2]}`);
}
