import type { CancelRequest } from '../../contract/cancel';
import { defined } from '../../contract/defined';
import { listOfConversation } from '../../contract/record/snapshot-messages';
import type { Answer, Interrupt } from '../../contract/interrupts';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import type { DeferredTools, Language, Manifest } from '../../contract/manifest';
import type { ChildUsage, UsageByModel } from '../../contract/usage';
import type { Failure, Json, JsonObject, StoredMessage, Usage } from '../../contract/messages/messages';
import type { RunOptions } from '../../contract/run-options';
import type { CallToolResult, StartInput } from '../../contract/record/wire';
import type { JournalEffect, Notes, RecordedFailure } from '../effects/journal';
import type { LastAnswer } from '../define/middleware';
import type { ConversationState } from './message-inbox';
import { freshConversation } from './message-inbox';
import type { ShownResult } from './shown-result';

/** One agent at work, by path. Its messages go over a continue-as-new in separate lists, each once. */
export interface AgentRecord {
  readonly path: readonly string[];
  turn: number;
  /** How often a misfitting answer went back to the model. */
  corrections?: number;
  remaining: number;
  /** How many messages of the model ran tools, if the agent limits them. */
  toolIterations?: number;
  /** A turn begins, with its setup. */
  begins?: true;
  /** The last iteration that took joining messages. */
  joined?: number;
  /** The calls at the end of the input run first. Set after the setup, while the turn is 0. */
  resumes?: true;
  instructions: string;
  /** What the model is shown. */
  tools: readonly string[];
  /** What the model may call, too: tools of the setup, also those hidden by a hook. */
  callable: readonly string[];
  returnDirectly: readonly string[];
  deferred?: DeferredTools;
  values: Readonly<Record<string, Json | undefined>>;
  messages: readonly StoredMessage[];
  /** The model that answered last, with a failover: the next call begins with it. */
  model?: string;
  /** The report of the last answer, if hooks could ask for it. */
  answered?: LastAnswer;
  /** Changes of hooks since the last answer, for the next event. */
  changes?: readonly MiddlewareChange[];
}

export interface PendingInterrupt {
  readonly shown: Interrupt;
  readonly since?: number;
  readonly onDeadline?: Json;
  /** The deadline is the end of the asking code, which withdraws the question. */
  readonly isLimited?: true;
  /** The code hears who answered, too. */
  readonly tellsWho?: true;
  readonly told?: number;
}

/** An answer that waits for the code that asked. */
export type EarlyAnswer = Pick<Answer, 'answer' | 'by' | 'roles'>;

/** The end of one parallel agent, with session values of an isolated agent. */
export type BranchEnd = { readonly session?: JsonObject } & (
  { readonly output: Json; readonly text: string } | { readonly error: Failure }
);

export type FinishedAgent = { readonly result: { readonly output: Json; readonly text: string } } | { readonly error: RecordedFailure };

/** The progress of an agent that runs others. */
export interface Progress {
  /** Of a sequence or loop: how many agents have ended. */
  at: number;
  /** The segment of the agent at work. */
  next?: string;
  last?: { readonly output: Json; readonly text: string };
  /** Of parallel agents: their segments, and their ends by position. */
  branches?: readonly string[];
  ends?: Record<number, BranchEnd>;
  /** Of a team: who has been at work, in order. */
  trail?: string[];
  /** Of callbacks: the passed-on values, whether the first ones have run, and the end of the agent until the later ones have run. */
  around?: { values: JsonObject; begun?: true; end?: FinishedAgent };
}

/** A message of a conversation. Over a continue-as-new messages go in separate lists. */
export interface SharedMessage {
  /** Null: the user. */
  readonly agent: string | null;
  readonly branch: string;
  readonly message: StoredMessage;
}

export type CallChanges = Pick<CallToolResult, 'runLocal' | 'events'>;

export type CancelState = Pick<CancelRequest, 'modes' | 'recursive' | 'reason' | 'by'> & {
  readonly deadline?: number;
};

type FromStart =
  'version' | 'id' | 'tenant' | 'agent' | 'input' | 'stream' | 'runPendingToolCalls' | 'parent' | 'tags' | 'settings' | 'model';

/** The whole state of a run beside its history. Plain data, owned by the kernel. */
export interface RunState extends Pick<StartInput, FromStart> {
  readonly options: RunOptions;
  /** Absent: the run ends with its first answer. */
  readonly conversation?: ConversationState;
  readonly values: JsonObject;
  /** Absent: unknown. */
  readonly startedBy?: string;
  language?: Language;
  manifest?: Manifest;
  usage: Usage;
  usageByModel: UsageByModel;
  session: Record<string, Json>;
  runLocal: Record<string, Record<string, Json>>;
  /** Changes of tool calls that count after the parallel calls, by call. */
  brought?: Readonly<Record<string, readonly CallChanges[]>>;
  /** Approvals for the rest of the run, by the path of the agent. Hooks do not reach them. */
  waivers?: Readonly<Record<string, readonly string[]>>;
  /** What layers of open calls left for their events, by address. */
  passed?: Readonly<Record<string, ShownResult>>;
  /** What several agents say to each other, by conversation. Absent: one agent alone. */
  sharedMessages?: Readonly<Record<string, SharedMessage[]>>;
  progress?: Record<string, Progress>;
  /** Ends of agents whose observers are not all told, by path. */
  ends?: Readonly<Record<string, FinishedAgent>>;
  /** Messages with an id of a hook, before their first iteration, by path. */
  ensured?: Readonly<Record<string, readonly StoredMessage[]>>;
  /** The last action of agents at work, by path. */
  actions?: Record<string, Json>;
  /** How many agents have worked as tools. */
  agentTools?: number;
  interrupts: PendingInterrupt[];
  answered: string[];
  /** The expired interrupts among them. Absent: none. */
  expired?: readonly string[];
  /** The withdrawn interrupts among them. Absent: none. */
  withdrawn?: readonly string[];
  /** The deliveries of the last answers. */
  delivered?: readonly string[];
  /** Answers after a continue-as-new, before their code was entered again. */
  early?: Readonly<Record<string, EarlyAnswer>>;
  sequence: number;
  agents: Record<string, AgentRecord>;
  journal: Readonly<Record<string, readonly JournalEffect[]>>;
  readonly notes?: Notes;
  /** In a retry: agents that failed at a limit of iterations and get all again. */
  renewed?: readonly string[];
  cancel?: CancelState;
  /** Isolated agents that were cancelled with the run or failed in it, by run id, with their usage. */
  cut?: Readonly<Record<string, ChildUsage>>;
  /** All agents had ended at the cancel: the end of the resumed run. */
  readonly finished?: { readonly output: Json; readonly text: string };
  /** Frames that errors had left before a continue-as-new, which kept only open frames. */
  readonly remains?: readonly string[];
  /** `once` tools that layers around a model at work have called, by the keys of frames. Absent: none. */
  readonly onceCalls?: Readonly<Record<string, string>>;
  /** Counts of calls at places that may call again. */
  readonly addresses?: Readonly<Record<string, number>>;
}

export function freshState(start: StartInput): RunState {
  return {
    version: 1,
    id: start.id,
    tenant: start.tenant,
    agent: start.agent,
    input: start.input,
    stream: start.stream,
    // A start without our client may lack them.
    options: start.options ?? {},
    values: start.values ?? {},
    ...((start.tags ?? []).length === 0 ? {} : { tags: start.tags ?? [] }),
    usage: { inputTokens: 0, outputTokens: 0 },
    usageByModel: {},
    session: { ...(start.session as Record<string, Json> | undefined) },
    runLocal: {},
    interrupts: [],
    answered: [],
    sequence: 0,
    agents: {},
    journal: {},
    ...defined({ settings: start.settings, model: start.model, language: start.language, parent: start.parent, startedBy: start.by }),
    ...(start.runPendingToolCalls === true ? { runPendingToolCalls: true } : {}),
    ...(start.conversation === undefined ? {} : { conversation: freshConversation(start.conversation) }),
  };
}

/** Takes an entry out of a table of the state. A snapshot may have the old table, so the rest is a new one. */
export function takeOut<Table extends 'brought' | 'ends' | 'ensured' | 'passed'>(
  state: RunState,
  table: Table,
  key: string,
): NonNullable<RunState[Table]>[string] | undefined {
  const { [key]: taken, ...others } = state[table] ?? {};
  if (taken === undefined) return undefined;
  if (Object.keys(others).length > 0) Object.assign(state, { [table]: others });
  else delete state[table];
  return taken as NonNullable<RunState[Table]>[string];
}

/** Who wrote to the turn at work, also for its isolated agents. Undefined: no turn. */
export function writersOf({ conversation, parent }: Pick<RunState, 'conversation' | 'parent'>): readonly (string | null)[] | undefined {
  return conversation?.writers ?? parent?.writers;
}

const gone: StoredMessage = { id: '', role: 'user', parts: [] };

/** Messages go over a continue-as-new in lists. */
export function withoutMessages(shared: NonNullable<RunState['sharedMessages']>): NonNullable<RunState['sharedMessages']> {
  return Object.fromEntries(Object.entries(shared).map(([key, entries]) => [key, entries.map((entry) => ({ ...entry, message: gone }))]));
}

function restoredShared(
  shared: NonNullable<RunState['sharedMessages']>,
  lists: Readonly<Record<string, readonly StoredMessage[]>>,
): RunState['sharedMessages'] {
  return Object.fromEntries(
    Object.entries(shared).map(([key, entries]) => {
      const messages = lists[listOfConversation(key)] ?? [];
      return [key, entries.map((entry, position) => ({ ...entry, message: messages[position] ?? gone }))];
    }),
  );
}

export function restoredState(state: RunState, lists: Readonly<Record<string, readonly StoredMessage[]>>): RunState {
  const agents: Record<string, AgentRecord> = {};
  for (const [key, record] of Object.entries(state.agents)) agents[key] = { ...record, messages: lists[key] ?? [] };
  return {
    ...state,
    session: { ...state.session },
    runLocal: { ...state.runLocal },
    interrupts: [...state.interrupts],
    answered: [...state.answered],
    agents,
    ...(state.sharedMessages === undefined ? {} : { sharedMessages: restoredShared(state.sharedMessages, lists) }),
    ...(state.conversation === undefined ? {} : { conversation: { ...state.conversation } }),
  };
}
