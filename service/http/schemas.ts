import { z } from 'zod';
import { cancelModes } from '../../contract/cancel';
import { sendModes } from '../../contract/conversations';
import { listStatuses } from '../../contract/events';
import { limits } from '../../contract/limits';
import { overlaps } from '../../contract/schedules';
import { usageGroups } from '../../contract/service-facts';

/** The client checks further, with its error codes. */
export const shortText = z.string().min(1).max(200);
export const json = z.custom<z.core.util.JSONType>((value) => value !== undefined, 'is missing');
export const roles = z.array(shortText).max(100);
/** Clients in other languages write null for absent fields. */
export const absentOr = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);
/** A protocol's field that the service ignores. */
export const unread = json.optional();

const ModelSettingsBody = z.strictObject({
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

const start = {
  values: z.record(z.string(), json).optional(),
  model: shortText.optional(),
  settings: ModelSettingsBody.optional(),
  options: z.record(z.string(), json).optional(),
  tags: z.array(z.string().min(1)).optional(),
  stream: z.boolean().optional(),
  deadline: shortText.optional(),
  by: shortText.optional(),
};

export const StartBody = z.strictObject({
  agent: z.string(),
  input: z.unknown().optional(),
  id: z.string().optional(),
  startDelay: shortText.optional(),
  runPendingToolCalls: z.boolean().optional(),
  ...start,
});
export type StartBody = z.infer<typeof StartBody>;

const who = { by: shortText.optional(), roles: roles.optional(), inputHash: shortText.optional() };
const comment = z.string().optional();

export const AnswerBody = z.strictObject({ answer: json, ...who });
export const DecisionBody = z.discriminatedUnion('decision', [
  z.strictObject({
    decision: z.literal('approve'),
    editedInput: json.optional(),
    forRestOfRun: z.boolean().optional(),
    upTo: z.number().optional(),
    comment,
    ...who,
  }),
  z.strictObject({ decision: z.literal('reject'), feedback: z.string().optional(), comment, ...who }),
  z.strictObject({ decision: z.literal('delegate'), to: shortText, comment, ...who }),
]);

const cancelMode = z.enum(cancelModes);

export const CancelBody = z.strictObject({
  mode: z.union([cancelMode, z.array(cancelMode).min(1)]).optional(),
  within: shortText.optional(),
  recursive: z.boolean().optional(),
  reason: z.string().min(1).max(limits.cancelReason).optional(),
  by: shortText.optional(),
});

const ids = z.array(z.string()).min(1).max(limits.bulk);
const dryRun = z.boolean().optional();
export const CancelManyBody = CancelBody.extend({ ids, dryRun });
export const GoOnBody = z.strictObject({ by: shortText.optional(), deadline: shortText.optional() });
export const RetryManyBody = GoOnBody.extend({ ids, dryRun });
export const UpgradeManyBody = z.strictObject({ ids, dryRun });

const ofInterrupt = { runId: z.string(), interruptId: z.string() };
export const AnswerManyBody = z.strictObject({
  answers: z
    .array(z.union([AnswerBody.extend(ofInterrupt), ...DecisionBody.options.map((option) => option.extend(ofInterrupt))]))
    .min(1)
    .max(limits.bulk)
    .refine(
      (answers) => new Set(answers.map(({ runId, interruptId }) => JSON.stringify([runId, interruptId]))).size === answers.length,
      'has two answers to one interrupt',
    ),
});

export const TerminateBody = z.strictObject({ reason: z.string().max(500).optional() });

const ClientToolBody = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), json).optional(),
});

export const MessageBody = z.strictObject({
  message: json,
  id: z.string().optional(),
  mode: z.enum(sendModes).optional(),
  tools: z.array(ClientToolBody).max(limits.clientTools).optional(),
  agent: z.string().optional(),
  idle: shortText.optional(),
  window: z.int().positive().optional(),
  title: shortText.optional(),
  build: z.enum(['pinned', 'newest']).optional(),
  messages: z.array(json).optional(),
  ...start,
});

export const ChangeBody = z.strictObject({ message: json, by: shortText.optional() });
export const TitleBody = z.strictObject({ title: shortText, by: shortText.optional() });
export const EndBody = z.strictObject({ mode: z.enum(['after-turn', 'now']).optional(), by: shortText.optional() });
export const ByWhom = z.strictObject({ by: shortText.optional() });

export const count = z
  .string()
  .regex(/^\d{1,15}$/, 'is no whole number')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 });

const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: [true, false] });
const limit = count.pipe(z.number().min(1).max(1000)).optional();

const filters = {
  agent: z.string().optional(),
  tag: z.array(z.string()).optional(),
  startedBy: z.string().optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  mayAnswer: z.string().optional(),
  role: z.array(z.string()).optional(),
  waitingSince: z.string().optional(),
  limit,
  after: z.string().optional(),
};

export const ListQuery = z.strictObject({
  status: z.enum(listStatuses).optional(),
  id: z.string().optional(),
  parent: z.string().optional(),
  total: flag.optional(),
  ...filters,
});

export const CountsQuery = z.strictObject({ since: z.string().optional() });

export const UsageQuery = z.strictObject({
  by: z.enum(usageGroups).optional(),
  since: z.string().optional(),
  until: z.string().optional(),
});

export const ApplyPolicyBody = z.strictObject({
  to: z.literal('waiting'),
  dryRun: z.boolean().optional(),
  by: shortText.optional(),
  agent: z.string().optional(),
  tag: z.union([z.string(), z.array(z.string())]).optional(),
  startedBy: z.string().optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  limit: z.int().min(1).max(1000).optional(),
  after: z.string().optional(),
});

const batchRefused = 'A batch needs a function, so only a schedule of the configuration can have a batch';

export const ScheduleBody = z.strictObject(
  {
    cron: shortText.optional(),
    every: shortText.optional(),
    zone: shortText.optional(),
    start: z.strictObject({
      agent: z.string(),
      input: json,
      tags: start.tags,
      values: start.values,
      model: start.model,
      deadline: start.deadline,
    }),
    overlap: z.enum(overlaps).optional(),
    catchUp: shortText.optional(),
    jitter: shortText.optional(),
    paused: z.boolean().optional(),
    note: shortText.optional(),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' && issue.keys.includes('batch') ? batchRefused : undefined) },
);
export const PauseBody = z.strictObject({ note: shortText.optional() });
export const BackfillBody = z.strictObject({ since: shortText, until: shortText });

export const InboxQuery = z.strictObject(filters);

export const EventsQuery = z.strictObject({
  from: count.optional(),
  until: z.enum(['waiting', 'end']).optional(),
  deltas: flag.optional(),
});

export const ReaderQuery = z.strictObject({ by: shortText.optional(), role: roles.optional() });
export const ChatQuery = ReaderQuery.extend({ from: count.optional(), until: z.enum(['waiting', 'end']).optional() });

export const PageQuery = z.strictObject({ before: count.optional(), limit: count.pipe(z.number().min(1).max(500)).optional() });

export const TranscriptQuery = z.strictObject({ shape: z.enum(['parts', 'chat', 'agentic']).optional() });

export const NothingGiven = z.strictObject({});
