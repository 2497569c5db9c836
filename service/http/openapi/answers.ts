import { z } from 'zod';
import { errorTable } from '../../../contract/errors';

/** What the service answers, as its document tells it. A test compares real answers with these. More fields may come. */

const json = z.custom<unknown>().meta({ description: 'Any JSON.' });
export const time = z.string().meta({ format: 'date-time' });
const milliseconds = z.int().meta({ description: 'Milliseconds since 1970.' });
const next = z.string().meta({ description: 'Given as `after`, it asks for the next page. The last page has none.' });

const Failure = z.object({ code: z.string(), message: z.string() }).meta({ id: 'Failure' });
const ThrownFailure = Failure.extend({ stack: z.string().optional() }).meta({ id: 'ThrownFailure' });

export const Usage = z
  .object({
    inputTokens: z.int(),
    outputTokens: z.int(),
    cachedInputTokens: z.int().optional(),
    reasoningTokens: z.int().optional(),
  })
  .meta({ id: 'Usage' });

const Part = z
  .looseObject({ type: z.string() })
  .meta({ id: 'Part', description: 'A text, a file, reasoning, a call of a tool or its result.' });

const Message = z
  .object({
    id: z.string(),
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    parts: z.array(Part),
    extra: json.optional(),
    partial: z.literal(true).optional(),
  })
  .meta({ id: 'Message' });

export const Interrupt = z
  .object({
    id: z.string(),
    kind: z.enum(['approval', 'question', 'in-doubt', 'custom']),
    agent: z.string(),
    address: z.array(z.string()),
    deadline: milliseconds.optional(),
    by: json.optional(),
    roles: json.optional(),
    tool: z.string().optional(),
    callId: z.string().optional(),
    input: json.optional(),
    inputHash: z.string().optional(),
    inputSchema: json.optional(),
    options: json.optional(),
    problem: z.string().optional(),
    policy: json.optional(),
    info: json.optional(),
    answerSchema: json.optional(),
  })
  .meta({ id: 'Interrupt', description: 'What a run waits for. An approval has tool, input and inputHash; the others have info.' });

const RunStatus = z.enum(['running', 'waiting', 'idle', 'stuck', 'completed', 'failed', 'cancelled']);

const QueuedMessage = z
  .object({ id: z.string(), mode: z.string(), message: Message, by: z.string().optional() })
  .meta({ id: 'QueuedMessage' });

const conversation = {
  turn: z.int().min(0),
  status: z.enum(['idle', 'working', 'ended']),
  paused: z.boolean(),
  title: z.string().optional(),
  queue: z.array(QueuedMessage),
  idleUntil: milliseconds.optional(),
  ended: z.object({ reason: z.string(), by: z.string().optional(), error: Failure.optional() }).optional(),
};

export const Id = z.object({ id: z.string() });
export const Health = z.object({ status: z.literal('ok') });
export const Readiness = z.object({ status: z.literal('ready') });

export const Agents = z.object({
  agents: z.array(
    z
      .object({
        name: z.string(),
        description: z.string(),
        takesJob: z.boolean(),
        inputSchema: json.optional(),
        example: z.string().optional(),
      })
      .meta({ id: 'Agent' }),
  ),
});

export const Started = z
  .object({ id: z.string(), isNew: z.boolean(), agent: z.string(), ignored: z.array(z.string()).optional() })
  .meta({ id: 'Started' });

const change = z
  .object({ middleware: z.string(), hook: z.string(), changed: z.array(z.string()), onWorker: z.literal(true).optional() })
  .meta({ id: 'MiddlewareChange', description: 'A middleware that changed something of a call.' });

const anyCall = {
  address: z.string(),
  agent: z.string(),
  runPath: z.array(z.string()),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  startedAt: milliseconds,
  endedAt: milliseconds.optional(),
  attempts: z.int().optional(),
  lastFailure: ThrownFailure.optional(),
  changes: z.array(change).optional(),
};

const modelCall = z
  .object({
    ...anyCall,
    kind: z.literal('model'),
    turn: z.int(),
    request: z.object({
      instructions: z.string().optional(),
      tools: z.array(z.string()).optional(),
      model: z.string().optional(),
      settings: json.optional(),
      workerMiddleware: z.array(z.string()).optional(),
      output: z.string().optional(),
      catalog: z.array(z.string()).optional(),
      deferred: json.optional(),
      final: z.string().optional(),
      messages: z.array(Message),
      from: z.int().meta({ description: 'The position of the first of these messages.' }),
      total: z.int(),
    }),
    diff: z
      .object({
        address: z.string(),
        messages: z.array(z.object({ at: z.int(), removed: z.array(Message), added: z.array(Message) })),
        fields: z.array(z.object({ name: z.string(), before: json })),
        more: z.literal(true).optional(),
      })
      .optional(),
    response: z
      .object({
        message: Message.optional(),
        partial: json.optional(),
        model: z.string().optional(),
        usage: Usage.optional(),
        finish: z.string().optional(),
        failed: json.optional(),
        waited: json.optional(),
      })
      .optional(),
    retries: z.array(z.object({ address: z.string(), failed: Failure.optional() })),
  })
  .meta({ id: 'ModelCall' });

const toolCall = z
  .object({
    ...anyCall,
    kind: z.literal('tool'),
    tool: z.string(),
    callId: z.string(),
    request: z.object({
      input: json,
      rawInput: json.optional(),
      options: json.optional(),
      workerMiddleware: z.array(z.string()).optional(),
      answer: json.optional(),
      reconcile: z.literal(true).optional(),
    }),
    response: z.object({ outcome: json.optional(), message: Message.optional() }).optional(),
  })
  .meta({ id: 'ToolCall' });

export const RunCall = z.discriminatedUnion('kind', [modelCall, toolCall]);

export const RunExecutions = z.object({
  executions: z.array(
    z.object({
      temporalRunId: z.string(),
      startedAt: time,
      closedAt: time.optional(),
      began: z.enum(['started', 'continued', 'went-on']),
      build: z.string().optional(),
      error: ThrownFailure.optional(),
    }),
  ),
  more: z.boolean(),
});

const noWorker = z.object({ taskQueue: z.string(), since: time.optional() }).optional();

export const RunView = z
  .object({
    id: z.string(),
    agent: z.string(),
    status: RunStatus,
    interrupts: z.array(Interrupt),
    usage: Usage,
    nextOffset: z.int(),
    output: json.optional(),
    text: z.string().optional(),
    pendingToolCalls: z.array(json).optional(),
    error: Failure.optional(),
    cancelled: json.optional(),
    cancelling: json.optional(),
    retrying: z.array(json).optional(),
    conversation: z.object(conversation).optional(),
    startedAt: time.optional(),
    closedAt: time.optional(),
    tags: z.array(z.string()).optional(),
    startedBy: z.string().optional(),
    build: z.string().optional(),
    usageByModel: z.record(z.string(), Usage).optional(),
    cost: z.object({ amount: z.number(), complete: z.boolean(), unpriced: z.array(z.string()).optional() }).optional(),
    noWorker,
  })
  .meta({ id: 'Run' });

const row = { agent: z.string(), waitingSince: time.optional(), tags: z.array(z.string()), startedBy: z.string().optional() };
const page = { more: z.boolean(), next: next.optional() };

export const RunPage = z.object({
  runs: z.array(
    z
      .object({
        id: z.string(),
        status: RunStatus,
        startedAt: time,
        closedAt: time.optional(),
        interrupts: z.array(Interrupt),
        parent: z.string().optional(),
        ...row,
      })
      .meta({ id: 'RunRow' }),
  ),
  total: z.int().optional(),
  noWorker,
  ...page,
});

export const InterruptPage = z.object({
  interrupts: z.array(z.object({ runId: z.string(), interrupt: Interrupt, ...row }).meta({ id: 'InterruptRow' })),
  ...page,
});

export const Interrupts = z.object({ interrupts: z.array(Interrupt) });
export const Messages = z.object({ messages: z.array(json) });
export const Answered = z.object({ id: z.string(), interruptId: z.string() });
export const RunOutcomes = z.object({ outcomes: z.array(z.object({ id: z.string(), error: Failure.optional() })) });
export const UpgradeOutcomes = z.object({
  outcomes: z.array(z.object({ id: z.string(), build: z.string().optional(), moved: z.boolean().optional(), error: Failure.optional() })),
});
export const AnswerOutcomes = z.object({
  outcomes: z.array(z.object({ runId: z.string(), interruptId: z.string(), error: Failure.optional() })),
});
export const Upgraded = z.object({ id: z.string(), build: z.string(), moved: z.boolean() });
export const Receipt = z.object({ id: z.string(), turn: z.int().optional() });
export const Queue = z.object({ messages: z.array(QueuedMessage) });

export const ConversationView = z
  .object({ id: z.string(), agent: z.string(), ...conversation, interrupts: z.array(Interrupt), usage: Usage, nextOffset: z.int() })
  .meta({ id: 'Conversation' });

export const TranscriptPage = z.object({
  messages: z.array(
    z.object({
      message: Message,
      turn: z.int(),
      offset: z.int(),
      time: milliseconds,
      agent: z.string().optional(),
      by: z.string().optional(),
      partial: z.literal(true).optional(),
    }),
  ),
  before: z.int().optional(),
});

export const Policies = z.object({
  policies: z.array(z.object({ name: z.string(), version: z.string(), tools: z.array(z.string()) })),
});

export const PolicyPage = z.object({
  policy: z.string(),
  version: z.string(),
  outcomes: z.array(
    z.object({
      runId: z.string(),
      interruptId: z.string(),
      tool: z.string(),
      outcome: z.enum(['asked', 'unchanged', 'left', 'failed']),
      added: z.array(json),
      error: Failure.optional(),
    }),
  ),
  ...page,
});

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    error: z.object({ code: z.enum(Object.keys(errorTable) as [string, ...string[]]), message: z.string(), fix: z.string() }),
  })
  .meta({ id: 'Problem', description: 'What is wrong, and what to change.' });

export const OpenAiError = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.enum(['invalid_request_error', 'server_error']),
      param: z.null(),
      code: z.string(),
      fix: z.string(),
    }),
  })
  .meta({ id: 'OpenAiError' });
