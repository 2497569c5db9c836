import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chunksOf } from '../../activities/models/chunks';
import type { LanguageModel, ModelProvider } from '../../activities/models/language-model';
import type { CancelOptions, CancelReceipt } from '../../client/runs/cancel';
import type { Conversation } from '../../client/conversations/conversation';
import type { ConversationOptions } from '../../client/conversations/conversation-options';
import type { Outcome } from '../../client/reading/outcome';
import type { HoldfastClient } from '../../client/connect';
import type { Run } from '../../client/runs/run';
import type { AgenticMessage } from '../../contract/messages/agentic-messages';
import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { RunEvent, RunView } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Hono } from 'hono';
import type { AguiOptions } from '../../service/agui/options';
import type { AguiThread } from '../support/agui-bed';
import { aguiApp, aguiAppOf, aguiThread } from '../support/agui-bed';
import type { Json, ModelSettings, StoredMessage } from '../../contract/messages/messages';
import type { RunOptions } from '../../contract/run-options';
import { names } from '../../contract/names';
import type { Agent } from '../../kernel/define/agent-ref';
import type { TestRun } from '../../testing/index';
import { testConversation, testRun } from '../../testing/index';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import { eventLine, lineOf } from '../support/memory-bed';
import type * as TemporalSupport from '../support/temporal';
import type { Temporal } from '../support/temporal';
import type * as BedSupport from '../support/test-bed';
import type { TestBed } from '../support/test-bed';
import type { EngineName } from './cases';
import { cases, keyOf } from './cases';
import { halves, tools } from './tools';

export interface Play {
  readonly input?: Json;
  /** The name after the provider selects a model: `model`, or the failover's choice. */
  readonly model: LanguageModel | ModelProvider;
  readonly values?: Readonly<Record<string, Json>>;
  readonly stream?: boolean;
  readonly runPendingToolCalls?: boolean;
  readonly settings?: ModelSettings;
  readonly options?: RunOptions;
  readonly onDelta?: (delta: Delta) => void;
}

export interface Played {
  outcome(): Promise<Outcome<unknown>>;
  resume(interruptId: string, answer: Json): Promise<void>;
  /** Waits until `count` interrupts are open. On a server, the first may wait while others are on the way. */
  waiting(count: number): Promise<readonly Interrupt[]>;
  reached(type: RunEvent['type']): Promise<RunEvent>;
  /** On a server, an isolated agent is another workflow and hears later. */
  reachedBelow(type: RunEvent['type']): Promise<void>;
  /** Advances the clock in memory. On a server, time passes by itself. */
  letTimePass(): Promise<void>;
  goOnAsNew(): Promise<void>;
  cancel(options?: CancelOptions): Promise<CancelReceipt>;
  goOn(): Promise<void>;
  view(): Promise<RunView>;
  log(): Promise<readonly RunEvent[]>;
  lines(): Promise<readonly string[]>;
  messages(): Promise<readonly StoredMessage[]>;
  agentic(): Promise<readonly AgenticMessage[]>;
  transcript(): Promise<readonly string[]>;
  notes(): Promise<readonly Json[]>;
}

export interface PlayedConversation {
  readonly conversation: Conversation;
  readonly run: Played;
  agui(options?: AguiOptions): AguiThread;
}

export interface Engine {
  readonly name: EngineName;
  converse(agent: Agent<string, Json, unknown>, model: LanguageModel, options?: ConversationOptions): Promise<PlayedConversation>;
  play(agent: Agent<string, Json, unknown>, play: Play): Promise<Played>;
}

const meansInMemory = (run: Pick<TestRun, 'events' | 'advance' | 'goOnAsNew'>): Means => ({
  followed: async () => undefined,
  events: () => run.events({ until: 'waiting' }),
  eventsBelow: undefined,
  letTimePass: () => run.advance('1d'),
  goOnAsNew: () => run.goOnAsNew(),
});

const memory: Engine = {
  name: 'memory',
  async converse(agent, model, options) {
    const conversation = await testConversation(agent, { tools, middleware: halves, ...options, model });
    const app = (options?: AguiOptions): Hono => aguiApp(conversation, options, agent.name);
    return {
      conversation,
      run: played(conversation.run, meansInMemory(conversation.run)),
      agui: (options) => aguiThread(app(options), agent.name, 'test'),
    };
  },
  async play(agent, { input = 'Hi', model, ...options }) {
    const provider = { model: (name: string) => modelNamed(model, name.replace(/^.*\//, '')) };
    const run = await testRun(agent, { input, tools, middleware: halves, model: provider, ...options });
    return played(run, meansInMemory(run));
  },
};

const scripts = new Map<string, LanguageModel | ModelProvider>();
let bed: Promise<TestBed> | undefined;
let server: Promise<Temporal> | undefined;

async function goOnAsNewOn(id: string): Promise<void> {
  const { executionOf, handle, untilAnotherExecution } = await (server ??= temporalSupport().openTemporal());
  const before = await executionOf(id);
  await handle(id).signal(names.continueAsNewSignal);
  await untilAnotherExecution(id, before);
}

const meansOnServer = (client: HoldfastClient, run: Run): Means => ({
  followed: async () => undefined,
  events: () => run.events({ until: 'waiting', deltas: false }),
  eventsBelow: (child) => client.run(child).events({ deltas: false }),
  letTimePass: async () => undefined,
  goOnAsNew: () => goOnAsNewOn(run.id),
});

const temporal: Engine = {
  name: 'temporal',
  async converse(agent, model, options) {
    const { client } = await (bed ??= startBed());
    const name = `script-${scripts.size}`;
    scripts.set(name, model);
    // All suites share the server.
    const id = `conversation-${name}-${randomUUID()}`;
    const run = client.run(id);
    const conversation = client.conversation(agent.name, id, { ...options, model: `test/${name}` });
    const served = Object.assign(Object.create(client) as HoldfastClient, { conversation: () => conversation, run: () => run });
    const app = (agui?: AguiOptions): Hono => aguiAppOf(served, agui, agent.name);
    return { conversation, run: played(run, meansOnServer(client, run)), agui: (agui) => aguiThread(app(agui), agent.name, id) };
  },
  async play(agent, { input = 'Hi', model, onDelta, ...options }) {
    const { client } = await (bed ??= startBed());
    const name = `script-${scripts.size}`;
    scripts.set(name, model);
    const run = await client.start(agent.name, input, { model: `test/${name}`, ...options });
    const following = follow(run.events({ until: 'waiting' }), onDelta);
    following.catch(() => undefined);
    return played(run, { ...meansOnServer(client, run), followed: () => following });
  },
};

async function follow(events: AsyncIterable<RunEvent | Delta>, onDelta: Play['onDelta']): Promise<void> {
  for await (const event of events) if (isDelta(event)) onDelta?.(event);
}

// Loaded lazily: cases in memory need neither worker nor client.
/* eslint-disable @typescript-eslint/no-require-imports */
const temporalSupport = (): typeof TemporalSupport => require('../support/temporal') as typeof TemporalSupport;
const bedSupport = (): typeof BedSupport => require('../support/test-bed') as typeof BedSupport;
/* eslint-enable @typescript-eslint/no-require-imports */

function startBed(): Promise<TestBed> {
  const { startTestBed, testDirectory } = bedSupport();
  return startTestBed(() => ({ parts: [] }), {
    agents: join(__dirname, 'all-agents.ts'),
    bundle: JSON.parse(readFileSync(join(testDirectory(), 'conformance-bundle.json'), 'utf8')) as WorkflowBundle,
    tools,
    middleware: halves,
    models: { providers: { test: { model: (name) => modelOf(name) } } },
  });
}

function modelOf(name: string): LanguageModel | Promise<LanguageModel> {
  const script = scripts.get(name);
  return script === undefined ? otherModel(name) : modelNamed(script, 'model');
}

/** A model without a run belongs to the run started last, because the worker caches models by name. */
function otherModel(name: string): LanguageModel {
  const current = async (): Promise<LanguageModel> => {
    const script = [...scripts.values()].at(-1);
    if (script === undefined) throw new Error(`There is no script "${name}".`);
    return modelNamed(script, name);
  };
  return {
    generate: async (request) => (await current()).generate(request),
    async *stream(request) {
      const model = await current();
      yield* model.stream === undefined ? chunksOf(await model.generate(request)) : model.stream(request);
    },
  };
}

function modelNamed(model: LanguageModel | ModelProvider, name: string): LanguageModel | Promise<LanguageModel> {
  return 'model' in model ? model.model(name) : model;
}

interface AnyRun {
  outcome(): Promise<Outcome<unknown>>;
  resume(interruptId: string, answer: Json): Promise<void>;
  resume(): Promise<void>;
  cancel(options?: CancelOptions): Promise<CancelReceipt>;
  view(): Promise<RunView>;
  transcript(): Promise<readonly StoredMessage[]>;
  transcript(options: { readonly shape: 'agentic' }): Promise<readonly AgenticMessage[]>;
}

interface Means extends Pick<Played, 'letTimePass' | 'goOnAsNew'> {
  followed(): Promise<void>;
  events(): AsyncIterable<RunEvent>;
  readonly eventsBelow: ((child: string) => AsyncIterable<RunEvent>) | undefined;
}

async function first(type: RunEvent['type'], events: AsyncIterable<RunEvent>): Promise<RunEvent> {
  for await (const event of events) if (event.type === type) return event;
  throw new Error(`The run came to no ${type}.`);
}

function played(run: AnyRun, { followed, events, eventsBelow, letTimePass, goOnAsNew }: Means): Played {
  const log = async (): Promise<readonly RunEvent[]> => {
    await run.outcome();
    const all: RunEvent[] = [];
    for await (const event of events()) all.push(event);
    return all;
  };
  return {
    async outcome() {
      const outcome = await run.outcome();
      await followed();
      return outcome;
    },
    resume: (interruptId, answer) => run.resume(interruptId, answer),
    cancel: (options) => run.cancel(options),
    async goOn() {
      await run.resume();
    },
    view: () => run.view(),
    async waiting(count) {
      for (;;) {
        const outcome = await run.outcome();
        if (outcome.status !== 'waiting') throw new Error(`The run is ${outcome.status}.`);
        if (outcome.interrupts.length >= count) return outcome.interrupts;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    reached: (type) => first(type, events()),
    async reachedBelow(type) {
      const begun = await first('agent-start', events());
      if (begun.type !== 'agent-start' || begun.run === undefined) throw new Error('The first agent that the run began is not isolated.');
      if (eventsBelow !== undefined) await first(type, eventsBelow(begun.run));
    },
    letTimePass,
    goOnAsNew,
    log,
    lines: async () => (await log()).map(eventLine),
    messages: async () => (await run.outcome(), run.transcript()),
    agentic: async () => (await run.outcome(), run.transcript({ shape: 'agentic' })),
    transcript: async () => (await run.outcome(), (await run.transcript()).map(lineOf)),
    notes: async () => (await log()).flatMap((event) => (event.type === 'custom' && event.name === 'note' ? [event.data] : [])),
  };
}

const { holdfastEngine: here, holdfastTest: define = it } = globalThis as unknown as {
  readonly holdfastEngine: EngineName;
  readonly holdfastTest?: typeof it;
};

/** Runs a case on the Jest project's engine if the case names the engine. */
export function onEngines(title: string, test: (engine: Engine) => Promise<void>): void {
  const found = cases.find(({ key }) => key === keyOf(title));
  if (found === undefined) throw new Error(`"${title}" begins with the key of no case.`);
  if (found.engines.includes(here)) define(`${title} (${here})`, () => test(here === 'memory' ? memory : temporal));
}

export function onServer(title: string, test: (client: HoldfastClient) => Promise<void>): void {
  if (here === 'temporal') define(title, async () => test((await (bed ??= startBed())).client));
}

export async function closeEngines(): Promise<void> {
  await (await bed)?.close();
  await (await server)?.close();
  bed = server = undefined;
}
