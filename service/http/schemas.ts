import { z } from 'zod';
import { listStatuses } from '../../contract/events';

/** What the HTTP service takes. The ends of an id, an agent's name, an input and options of a run are checked deeper, where their own codes are. */
const shortText = z.string().min(1).max(200);
/** The body was parsed from JSON: what stands here is JSON. */
const json = z.custom<z.core.util.JSONType>((value) => value !== undefined, 'is missing');

export const ModelSettingsBody = z.strictObject({
  temperature: z.number().optional(),
  maxOutputTokens: z.int().positive().optional(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  presencePenalty: z.number().optional(),
  frequencyPenalty: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  seed: z.int().optional(),
  toolChoice: json.optional(),
  providerOptions: json.optional(),
});

export const StartBody = z.strictObject({
  agent: z.string(),
  input: z.unknown().optional(),
  id: z.string().optional(),
  values: z.record(z.string(), json).optional(),
  model: shortText.optional(),
  settings: ModelSettingsBody.optional(),
  options: z.record(z.string(), json).optional(),
  deadline: shortText.optional(),
  startDelay: shortText.optional(),
  tags: z.array(shortText).max(50).optional(),
  stream: z.boolean().optional(),
  runPendingToolCalls: z.boolean().optional(),
  by: shortText.optional(),
});
export type StartBody = z.infer<typeof StartBody>;

const who = { by: shortText.optional(), inputHash: shortText.optional() };

/** An answer as it is, or the two decisions about a tool call in short. */
export const AnswerBody = z.strictObject({ answer: json, ...who });
export const DecisionBody = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('approve'), editedInput: json.optional(), forRestOfRun: z.boolean().optional(), ...who }),
  z.strictObject({ decision: z.literal('reject'), feedback: z.string().optional(), ...who }),
]);

export const CancelBody = z.strictObject({});

export const RetryBody = z.strictObject({ by: shortText.optional(), deadline: shortText.optional() });

export const TerminateBody = z.strictObject({ reason: z.string().max(500).optional() });

const count = z
  .string()
  .regex(/^\d{1,15}$/, 'is no whole number')
  .transform(Number);

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const limit = count.pipe(z.number().min(1).max(1000)).optional();

/** What lists filter by. The client says what is wrong with a value. */
const filters = {
  agent: z.string().optional(),
  tag: z.array(z.string()).optional(),
  startedBy: z.string().optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  mayAnswer: z.string().optional(),
  waitingSince: z.string().optional(),
  limit,
  after: z.string().optional(),
};

export const ListQuery = z.strictObject({
  status: z.enum(listStatuses).optional(),
  parent: z.string().optional(),
  total: flag.optional(),
  ...filters,
});

export const InboxQuery = z.strictObject(filters);

export const EventsQuery = z.strictObject({
  from: count.optional(),
  until: z.enum(['waiting', 'end']).optional(),
  deltas: flag.optional(),
});

export const TranscriptQuery = z.strictObject({ shape: z.enum(['parts', 'chat', 'agentic']).optional() });

/** Of routes that have none: what stands there would do nothing. */
export const NoQuery = z.strictObject({});

/** The header with which a reader of events goes on: the offset of the last event that it saw. */
export const LastEventId = count;
