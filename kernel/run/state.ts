import type { CancelRequest } from '../../contract/cancel';
import type { Author } from '../../contract/access';
import { authorWithRoles } from '../../contract/author';
import { defined } from '../../contract/defined';
import { listOfConversation } from '../../contract/record/snapshot-messages';
import type { Answer, Interrupt } from '../../contract/interrupts';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import type { DeferredTools, Language, Manifest } from '../../contract/manifest';
import type { ChildUsage, UsageByModel } from '../../contract/usage';
import type { Failure, Json, JsonObject, Message, StoredMessage, Usage } from '../../contract/messages/messages';
import type { RunOptions } from '../../contract/run-options';
import type { CallToolResult, StartInput } from '../../contract/record/wire';
import type { Notes } from '../effects/journal';
import type { RecordedFailure } from '../effects/errors';
import type { JournalEffect } from '../effects/journal-effect';
import type { LastAnswer } from '../define/middleware';
import type { ConversationState } from './message-inbox';
import { freshConversation } from './message-inbox';

/** A continue-as-new carries the messages in separate lists, each message once. */
export interface AgentRecord {
  readonly path: readonly string[];
  turn: number;
  corrections?: number;
  remaining: number;
  toolIterations?: number;
  begins?: true;
  joined?: number;
  /** The calls at the end of the input run first. Set after the setup, while the turn is 0. */
  resumes?: true;
  instructions: string;
  tools: readonly string[];
  /** Tools that the model may call, even if a hook hides them. */
  callable: readonly string[];
  returnDirectly: readonly string[];
  deferred?: DeferredTools;
  values: Readonly<Record<string, Json | undefined>>;
  messages: readonly StoredMessage[];
  model?: string;
  /** Kept only if hooks could ask for the report. */
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
  /** The code also gets the person who answered. */
  readonly tellsWho?: true;
  readonly told?: number;
}

export type EarlyAnswer = Author & Pick<Answer, 'answer'>;

export type BranchEnd = { readonly session?: JsonObject } & (
  { readonly output: Json; readonly text: string } | { readonly error: Failure }
);

export type FinishedAgent = { readonly result: { readonly output: Json; readonly text: string } } | { readonly error: RecordedFailure };

export interface Progress {
  at: number;
  next?: string;
  last?: { readonly output: Json; readonly text: string };
  branches?: readonly string[];
  ends?: Record<number, BranchEnd>;
  trail?: string[];
  /** Of callbacks: the passed-on values, whether the first callbacks have run, and the end until the later callbacks have run. */
  around?: { values: JsonObject; begun?: true; end?: FinishedAgent };
}

export interface ShownResult {
  readonly message?: Message;
  readonly output?: Json;
  readonly action?: Json;
  readonly changes?: readonly MiddlewareChange[];
}

export interface SharedMessage {
  /** Null: the user. */
  readonly agent: string | null;
  readonly branch: string;
  readonly message: StoredMessage;
}

export type CallChanges = Pick<CallToolResult, 'runLocal' | 'events'>;

export type CancelState = Pick<CancelRequest, 'modes' | 'recursive' | 'reason' | 'by' | 'proof'> & {
  readonly deadline?: number;
};

type FromStart =
  'version' | 'id' | 'tenant' | 'agent' | 'input' | 'stream' | 'runPendingToolCalls' | 'parent' | 'tags' | 'settings' | 'model';

export interface RunState extends Pick<StartInput, FromStart> {
  readonly options: RunOptions;
  readonly conversation?: ConversationState;
  readonly values: JsonObject;
  readonly startedBy?: string;
  readonly startRoles?: readonly string[];
  readonly startProof?: string;
  language?: Language;
  manifest?: Manifest;
  usage: Usage;
  usageByModel: UsageByModel;
  session: Record<string, Json>;
  runLocal: Record<string, Record<string, Json>>;
  /** Changes of tool calls that count after the parallel calls, by call. */
  brought?: Readonly<Record<string, readonly CallChanges[]>>;
  /** By the path of the agent. Hooks cannot change them. */
  waivers?: Readonly<Record<string, readonly string[]>>;
  /** Values that layers of open calls left for their events, by address. */
  passed?: Readonly<Record<string, ShownResult>>;
  /** By conversation. Absent: the agent is alone. */
  sharedMessages?: Readonly<Record<string, SharedMessage[]>>;
  progress?: Record<string, Progress>;
  /** Ends of agents whose observers have not all run, by path. */
  ends?: Readonly<Record<string, FinishedAgent>>;
  /** Messages with an id of a hook, before their first iteration, by path. */
  ensured?: Readonly<Record<string, readonly StoredMessage[]>>;
  actions?: Record<string, Json>;
  agentTools?: number;
  interrupts: PendingInterrupt[];
  answered: string[];
  expired?: readonly string[];
  withdrawn?: readonly string[];
  delivered?: readonly string[];
  /** Answers whose code was not entered again yet. */
  early?: Readonly<Record<string, EarlyAnswer>>;
  sequence: number;
  agents: Record<string, AgentRecord>;
  journal: Readonly<Record<string, readonly JournalEffect[]>>;
  readonly notes?: Notes;
  /** In a retry: agents that get all iterations again. */
  renewed?: readonly string[];
  cancel?: CancelState;
  /** By run id: isolated agents that were cancelled with the run or failed in it. */
  cut?: Readonly<Record<string, ChildUsage>>;
  /** The result if all agents had ended at the cancel: the end of the resumed run. */
  readonly finished?: { readonly output: Json; readonly text: string };
  /** A continue-as-new keeps only open frames, and lost these frames with errors. */
  readonly remains?: readonly string[];
  /** `once` tools that layers around a model at work have called, by the keys of frames. */
  readonly onceCalls?: Readonly<Record<string, string>>;
  readonly addresses?: Readonly<Record<string, number>>;
}

export function freshState(start: StartInput): RunState {
  const { roles: startRoles, proof: startProof } = authorWithRoles(start);
  return {
    version: 1,
    id: start.id,
    tenant: start.tenant,
    agent: start.agent,
    input: start.input,
    stream: start.stream,
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
    ...defined({ settings: start.settings, model: start.model, language: start.language, parent: start.parent }),
    ...defined({ startedBy: start.by, startRoles, startProof }),
    ...(start.runPendingToolCalls === true ? { runPendingToolCalls: true } : {}),
    ...(start.conversation === undefined ? {} : { conversation: freshConversation(start.conversation) }),
  };
}

/** Makes a new table, because a snapshot may hold the old table. */
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

export function starterOf({ startedBy: by, startRoles: roles, startProof: proof }: RunState): Author {
  return defined({ by, roles, proof });
}

/** Undefined: the starter. */
export function authorOfTurn({ conversation, parent }: Pick<RunState, 'conversation' | 'parent'>): Author | undefined {
  const author = conversation?.author ?? parent?.author;
  return author && authorWithRoles(author);
}

/** Undefined: no turn. */
export function writersOf({ conversation, parent }: Pick<RunState, 'conversation' | 'parent'>): readonly (string | null)[] | undefined {
  return conversation?.writers ?? parent?.writers;
}

const gone: StoredMessage = { id: '', role: 'user', parts: [] };

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
