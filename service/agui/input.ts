import { z } from 'zod';
import type { ClientTool, TakenTools } from '../../contract/client-tools';
import { clientToolsProblem, specsOfClient, takesTool } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { AnswerOptions } from '../../client/index';
import { parse } from '../http/parse-request';
import { absentOr, json, roles, shortText, unread } from '../http/schemas';

const ofMessage = { subagentRunId: unread, encryptedValue: unread, metadata: unread };

const Source = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('data'), value: z.string(), mimeType: z.string().min(1) }),
  z.strictObject({ type: z.literal('url'), value: z.string(), mimeType: absentOr(z.string().min(1)) }),
  z.strictObject({ type: z.literal('file'), value: z.string(), mimeType: unread }),
]);

const GivenPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), metadata: unread }),
  z.strictObject({ type: z.enum(['image', 'audio', 'video', 'document']), source: Source, metadata: unread }),
  // Only clients before AG-UI 1.0 send binary parts.
  z.strictObject({
    type: z.literal('binary'),
    mimeType: z.string().min(1),
    data: absentOr(z.string()),
    url: absentOr(z.string()),
    id: unread,
    filename: unread,
  }),
]);
export type GivenPart = z.infer<typeof GivenPart>;

const content = z.union([z.string(), z.array(GivenPart)]);
const UserMessage = z.strictObject({ id: z.string().min(1), role: z.literal('user'), content, name: absentOr(shortText), ...ofMessage });
const ToolMessage = z.strictObject({
  ...ofMessage,
  id: z.string(),
  role: z.literal('tool'),
  toolCallId: z.string().min(1),
  content,
  error: absentOr(z.string()),
});
export type ToolMessage = z.infer<typeof ToolMessage>;

const ResumeEntry = z.strictObject({
  interruptId: z.string().min(1),
  status: z.enum(['resolved', 'cancelled']),
  payload: json.optional(),
  metadata: absentOr(z.record(z.string(), json)),
});
export type ResumeEntry = z.infer<typeof ResumeEntry>;

export const RunAgentInput = z.strictObject({
  threadId: z.string().min(1).max(200),
  runId: z.string().min(1).max(200),
  protocolVersion: absentOr(z.string()),
  parentRunId: absentOr(z.string()),
  messages: z.array(z.looseObject({ role: z.string() })),
  tools: absentOr(
    z.array(z.strictObject({ name: z.string(), description: absentOr(z.string()), parameters: absentOr(json), metadata: unread })),
  ),
  resume: absentOr(z.array(ResumeEntry)),
  state: unread,
  context: unread,
  /** Pages add properties. `by` and `roles` name the author. */
  forwardedProps: absentOr(z.looseObject({ by: absentOr(shortText), roles: absentOr(roles) })),
});
export type RunAgentInput = z.infer<typeof RunAgentInput>;

export const CancelInput = RunAgentInput.partial({ runId: true, messages: true });

/** A page sends all its tools to all agents. */
export function toolsIn({ tools = [] }: RunAgentInput, taken: TakenTools | undefined): readonly ClientTool[] {
  const given = tools
    .filter(({ name }) => takesTool(taken, name))
    .map(({ name, description, parameters }) => ({ name, ...defined({ description, inputSchema: parameters }) }));
  const problem = clientToolsProblem(specsOfClient(given));
  if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
  return given;
}

export type Wish =
  | { readonly type: 'say'; readonly id: string; readonly content: string | readonly GivenPart[]; readonly by?: string }
  | { readonly type: 'results'; readonly results: readonly ToolMessage[]; readonly who: Pick<AnswerOptions, 'by' | 'roles'> }
  | { readonly type: 'answer'; readonly entries: readonly ResumeEntry[] }
  | { readonly type: 'history' };

/** Reads only the last messages, because the client could forge earlier messages. */
export function wishOf({ messages, resume, forwardedProps }: RunAgentInput): Wish {
  const { by, roles: has } = forwardedProps ?? {};
  const who = defined({ by, roles: has });
  if (resume !== undefined && resume.length > 0)
    return { type: 'answer', entries: resume.map((entry) => ({ ...entry, metadata: { ...who, ...entry.metadata } })) };
  const last = messages.at(-1);
  if (last === undefined)
    throw new HoldfastError('request-invalid', 'The input has no messages. Send one of the role user, or read the thread at /connect.');
  switch (last.role) {
    case 'user': {
      const { id, content: said, name } = parse(UserMessage, last, 'The last message');
      if (name !== undefined && name !== by)
        throw new HoldfastError(
          'request-invalid',
          'The `name` of the last message must be that of `forwardedProps.by`, which says who speaks.',
        );
      return { type: 'say', id, content: said, ...defined({ by }) };
    }
    case 'tool': {
      const first = messages.map(({ role }) => role !== 'tool').lastIndexOf(true) + 1;
      return { type: 'results', results: messages.slice(first).map((message) => parse(ToolMessage, message, 'The last message')), who };
    }
    case 'assistant':
      return { type: 'history' };
    default:
      throw new HoldfastError('request-invalid', `The role of the last message must be user or tool. It is ${JSON.stringify(last.role)}.`);
  }
}
