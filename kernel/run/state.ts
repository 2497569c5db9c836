import type { CancelRequest } from '../../contract/cancel';
import { defined } from '../../contract/defined';
import { listOfConversation } from '../../contract/record/snapshot-messages';
import type { Interrupt } from '../../contract/interrupts';
import type { MiddlewareChange } from '../../contract/middleware-changes';
import type { DeferredTools, Language, Manifest } from '../../contract/manifest';
import type { ChildUsage, UsageByModel } from '../../contract/usage';
import type { Failure, Json, JsonObject, ModelSettings, StoredMessage, Usage } from '../../contract/messages/messages';
import type { RunOptions } from '../../contract/run-options';
import type { CallToolResult, ParentRun, StartInput } from '../../contract/record/wire';
import type { JournalEffect, Notes, RecordedFailure } from '../effects/journal';
import type { LastAnswer } from '../define/middleware';
import type { ConversationState } from './message-inbox';
import { freshConversation } from './message-inbox';
import type { ShownResult } from './shown-result';

/** One agent at work, by its path. Its messages go over a continue-as-new apart from the rest, so that they stand there once. */
export interface AgentRecord {
  readonly path: readonly string[];
  turn: number;
  /** How often an answer that did not fit its schema went back to the model. */
  corrections?: number;
  remaining: number;
  /** How many messages of the model have run tools, of an agent that limits them. */
  toolIterations?: number;
  /** A turn of a conversation begins: its setup runs first. */
  begins?: true;
  /** The iteration at whose beginning it took what people said meanwhile. */
  joined?: number;
  /** The calls that its messages end in run first. Set after the setup, as long as the turn is 0. */
  resumes?: true;
  instructions: string;
  /** What the model is shown. */
  tools: readonly string[];
  /** What it may call besides: the tools of the run's setup, also those that a hook hid from it later. */
  callable: readonly string[];
  returnDirectly: readonly string[];
  /** Tools that the model has to search for. Absent: none. */
  deferred?: DeferredTools;
  values: Readonly<Record<string, Json | undefined>>;
  messages: readonly StoredMessage[];
  /** The model that answered last, of an agent with a failover: the next call begins with it. */
  model?: string;
  /** What its last answer reported, of an agent whose hooks could ask. */
  answered?: LastAnswer;
  /** What hooks changed since the last answer, for the event of the next one. Absent: nothing. */
  changes?: readonly MiddlewareChange[];
}

export interface PendingInterrupt {
  readonly shown: Interrupt;
  /** When it was shown, once it is. */
  readonly since?: number;
  readonly onDeadline?: Json;
  /** Its deadline is the end of the code that asked, which withdraws it. */
  readonly isLimited?: true;
  /** The code is told who answered, and not only what. */
  readonly tellsWho?: true;
  /** How many of its steps have been told. Absent: none. */
  readonly told?: number;
}

/** An answer that waits for the code that asked. */
export interface EarlyAnswer {
  readonly answer: Json;
  readonly by?: string;
  readonly roles?: readonly string[];
}

/** How one of several agents at the same time has ended. Of an isolated one: the session values that it has set. */
export type BranchEnd = { readonly session?: JsonObject } & (
  { readonly output: Json; readonly text: string } | { readonly error: Failure }
);

/** How an agent has ended: what it gave, with all that goes with that, or its error. */
export type FinishedAgent = { readonly result: { readonly output: Json; readonly text: string } } | { readonly error: RecordedFailure };

/** How far an agent that runs others has come. */
export interface Progress {
  /** Of a sequence or a loop: how many of its agents have ended. */
  at: number;
  /** The one that is at work, by its segment. */
  next?: string;
  /** What the last one gave. */
  last?: { readonly output: Json; readonly text: string };
  /** Of agents at the same time: their segments, and what those gave that have ended, by position. */
  branches?: readonly string[];
  ends?: Record<number, BranchEnd>;
  /** Of agents that hand over to each other: who has been at work, in order. */
  trail?: string[];
  /** What callbacks around it passed on, whether those before it have run, and how it has ended until those behind it have run. */
  around?: { values: JsonObject; begun?: true; end?: FinishedAgent };
}

/** A message of a conversation of several agents. Over a continue-as-new the messages go apart, as lists. */
export interface SharedMessage {
  /** Null: the user. */
  readonly agent: string | null;
  readonly branch: string;
  readonly message: StoredMessage;
}

/** What a call handed back beside its result. */
export type CallChanges = Pick<CallToolResult, 'runLocal' | 'events'>;

/** What was asked about the end of a run, all of it together. */
export type CancelState = Pick<CancelRequest, 'modes' | 'recursive' | 'reason' | 'by'> & {
  /** How long safe points are waited for. */
  readonly deadline?: number;
};

/** All that a run is, beside its history. Plain data with one owner, the kernel. */
export interface RunState {
  readonly version: 1;
  readonly id: string;
  readonly tenant: string;
  readonly agent: string;
  readonly input: Json;
  readonly stream: boolean;
  /** The run begins with the calls that its input ends in. */
  readonly runPendingToolCalls?: true;
  readonly options: RunOptions;
  /** Of the run of an isolated agent. */
  readonly parent?: ParentRun;
  /** Absent: the run ends with its first answer. */
  readonly conversation?: ConversationState;
  readonly values: JsonObject;
  /** Absent: none. */
  readonly tags?: readonly string[];
  /** Who started the run. Absent: nobody said so. */
  readonly startedBy?: string;
  readonly settings?: ModelSettings;
  readonly model?: string;
  language?: Language;
  manifest?: Manifest;
  usage: Usage;
  usageByModel: UsageByModel;
  session: Record<string, Json>;
  runLocal: Record<string, Record<string, Json>>;
  /** What tool calls handed back that counts when the calls beside them have ended, by call. */
  brought?: Readonly<Record<string, readonly CallChanges[]>>;
  /** Approvals that a person gave for the rest of the run, by the path of the agent. Hooks do not reach them. */
  waivers?: Readonly<Record<string, readonly string[]>>;
  /** What layers of open calls left for their events, by the address of the call. */
  passed?: Readonly<Record<string, ShownResult>>;
  /** What several agents say to each other, by conversation. Absent of a run of one agent. */
  sharedMessages?: Readonly<Record<string, SharedMessage[]>>;
  /** How far agents that run others have come, by path. */
  progress?: Record<string, Progress>;
  /** How agents have ended whose observers are not all told of it yet, by path. */
  ends?: Readonly<Record<string, FinishedAgent>>;
  /** Messages that hooks of agents at work gave an id, and that no iteration has begun with yet, by path. */
  ensured?: Readonly<Record<string, readonly StoredMessage[]>>;
  /** The last action that an agent at work has shown, by path. */
  actions?: Record<string, Json>;
  /** How many agents have been at work as tools. */
  agentTools?: number;
  interrupts: PendingInterrupt[];
  answered: string[];
  /** Those of them that nobody answered in time. Absent: none. */
  expired?: readonly string[];
  /** Those of them that were withdrawn. Absent: none. */
  withdrawn?: readonly string[];
  /** How the last answers came that were taken. */
  delivered?: readonly string[];
  /** Answers that came after a continue-as-new and before the code that waits for them was entered again. */
  early?: Readonly<Record<string, EarlyAnswer>>;
  sequence: number;
  agents: Record<string, AgentRecord>;
  journal: Readonly<Record<string, readonly JournalEffect[]>>;
  /** What open frames keep beside their effects. */
  readonly notes?: Notes;
  /** Of a run that is tried again: agents that failed at a limit of iterations, and have as many again. */
  renewed?: readonly string[];
  /** Somebody wants that the run stops, and it has not yet. */
  cancel?: CancelState;
  /** Isolated agents that were cancelled with the run, or failed in it, by the ids of their runs, with what they had used by then. */
  cut?: Readonly<Record<string, ChildUsage>>;
  /** All agents had ended when the run was cancelled: what it ends with when it is gone on with. */
  readonly finished?: { readonly output: Json; readonly text: string };
  /** Frames that errors had left before a continue-as-new, which took only along what was open. */
  readonly remains?: readonly string[];
  /** Tools whose effect is once that layers around a model at work have called, by the keys of the calls' frames. Absent: none. */
  readonly onceCalls?: Readonly<Record<string, string>>;
  /** How often calls were made at places where there may be more. */
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
    // Whoever starts a workflow without our client may leave them out.
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

/** Who wrote to the turn at work, also in the runs of its isolated agents. Undefined: no turn. */
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

/** Puts the lists back that went apart from the state. */
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
