import { z } from 'zod';
import type { ClientTool, TakenTools } from '../../contract/client-tools';
import { clientToolsProblem, specsOfClient, takesTool } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';

const json = z.custom<Json>((value) => value !== undefined, 'is missing');

/** Clients in other languages write null for what is not there. */
const absentOr = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

const Source = z.discriminatedUnion('type', [
  z.object({ type: z.literal('data'), value: z.string(), mimeType: z.string().min(1) }),
  z.object({ type: z.literal('url'), value: z.string(), mimeType: absentOr(z.string().min(1)) }),
  z.object({ type: z.literal('file'), value: z.string() }),
]);

const GivenPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio', 'video', 'document']), source: Source }),
  // Of clients before 1.0.
  z.object({ type: z.literal('binary'), mimeType: z.string().min(1), data: absentOr(z.string()), url: absentOr(z.string()) }),
]);
export type GivenPart = z.infer<typeof GivenPart>;

const content = z.union([z.string(), z.array(GivenPart)]);
const UserMessage = z.object({ id: z.string().min(1), role: z.literal('user'), content, name: absentOr(z.string().min(1).max(200)) });
const ToolMessage = z.object({
  id: z.string(),
  role: z.literal('tool'),
  toolCallId: z.string().min(1),
  content,
  error: absentOr(z.string()),
});
export type ToolMessage = z.infer<typeof ToolMessage>;

const ResumeEntry = z.object({
  interruptId: z.string().min(1),
  status: z.enum(['resolved', 'cancelled']),
  payload: json.optional(),
  metadata: absentOr(z.record(z.string(), json)),
});
export type ResumeEntry = z.infer<typeof ResumeEntry>;

/** What AG-UI clients send. Of the messages only the last ones are looked at: the conversation is in its own log. */
export const RunAgentInput = z.object({
  threadId: z.string().min(1).max(200),
  runId: z.string().min(1).max(200),
  protocolVersion: absentOr(z.string()),
  parentRunId: absentOr(z.string()),
  messages: z.array(z.looseObject({ role: z.string() })),
  tools: absentOr(z.array(z.looseObject({ name: z.string(), description: absentOr(z.string()), parameters: absentOr(json) }))),
  resume: absentOr(z.array(ResumeEntry)),
});
export type RunAgentInput = z.infer<typeof RunAgentInput>;

export const CancelInput = z.object({ threadId: z.string().min(1).max(200), runId: absentOr(z.string()) });

/** Tools of the page that the agent takes. A page names all that it has to every agent, so the others are left out. */
export function toolsIn({ tools = [] }: RunAgentInput, taken: TakenTools | undefined): readonly ClientTool[] {
  const given = tools
    .filter(({ name }) => takesTool(taken, name))
    .map(({ name, description, parameters }) => ({ name, ...defined({ description, inputSchema: parameters }) }));
  const problem = clientToolsProblem(specsOfClient(given));
  if (problem !== undefined) throw new HoldfastError('request-invalid', problem);
  return given;
}

/** What a client wants of a thread. */
export type Wish =
  | { readonly type: 'say'; readonly id: string; readonly content: string | readonly GivenPart[]; readonly from?: string }
  | { readonly type: 'results'; readonly results: readonly ToolMessage[] }
  | { readonly type: 'answer'; readonly entries: readonly ResumeEntry[] }
  | { readonly type: 'history' };

/** Reads the end of the messages, and nothing before it: whoever posts may have written the rest. */
export function wishOf({ messages, resume }: RunAgentInput): Wish {
  if (resume !== undefined && resume.length > 0) return { type: 'answer', entries: resume };
  const last = messages.at(-1);
  if (last === undefined)
    throw new HoldfastError('request-invalid', 'The input has no messages. Send one of the role user, or read the thread at /connect.');
  switch (last.role) {
    case 'user': {
      const { id, content: said, name } = checked(UserMessage, last);
      return { type: 'say', id, content: said, ...(name === undefined ? {} : { from: name }) };
    }
    case 'tool': {
      const first = messages.map(({ role }) => role !== 'tool').lastIndexOf(true) + 1;
      return { type: 'results', results: messages.slice(first).map((message) => checked(ToolMessage, message)) };
    }
    case 'assistant':
      return { type: 'history' };
    default:
      throw new HoldfastError('request-invalid', `The role of the last message must be user or tool. It is ${JSON.stringify(last.role)}.`);
  }
}

function checked<T>(schema: z.ZodType<T>, message: unknown): T {
  const parsed = schema.safeParse(message);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message: issue }) => `${path.map(String).join('.')}: ${issue}`);
  throw new HoldfastError('request-invalid', `The last message is not what this route takes: ${issues.join('; ')}.`);
}
