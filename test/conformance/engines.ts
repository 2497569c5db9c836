import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LanguageModel, ModelProvider } from '../../activities/models';
import type { Outcome } from '../../client/run';
import type { HoldfastClient } from '../../client/connect';
import type { AgenticMessage } from '../../contract/plain/agentic-messages';
import type { Delta } from '../../contract/plain/deltas';
import { isDelta } from '../../contract/plain/deltas';
import type { RunEvent } from '../../contract/plain/events';
import type { Interrupt } from '../../contract/plain/interrupts';
import type { Json, ModelSettings, StoredMessage } from '../../contract/plain/messages';
import type { RunOptions } from '../../contract/plain/run-options';
import type { Agent } from '../../kernel/agent';
import { testRun } from '../../testing/index';
import type { WorkflowBundle } from '../../worker/bundle';
import { lineOf } from '../support/memory-bed';
import type { TestBed } from '../support/test-bed';
import { startTestBed, testDirectory } from '../support/test-bed';
import type { EngineName } from './cases';
import { cases, keyOf } from './cases';
import { tools } from './tools';

export interface Play {
  readonly input?: Json;
  readonly model: LanguageModel | ModelProvider;
  readonly values?: Readonly<Record<string, Json>>;
  readonly stream?: boolean;
  readonly runPendingToolCalls?: boolean;
  readonly settings?: ModelSettings;
  readonly options?: RunOptions;
  /** Sees what comes in while calls run. */
  readonly onDelta?: (delta: Delta) => void;
}

/** A run of either engine, as a user has it. */
export interface Played {
  outcome(): Promise<Outcome<unknown>>;
  resume(interruptId: string, answer: Json): Promise<void>;
  cancel(): Promise<void>;
  /** The interrupts once there are that many. On a server others may still be on their way when the first one waits. */
  waiting(count: number): Promise<readonly Interrupt[]>;
  /** The durable log as far as the run comes by itself. */
  log(): Promise<readonly RunEvent[]>;
  messages(): Promise<readonly StoredMessage[]>;
  /** The transcript in the agentic shape. */
  agentic(): Promise<readonly AgenticMessage[]>;
  /** Transcript in short: `user: Hi`. */
  transcript(): Promise<readonly string[]>;
  /** The data of the events named `note`: what hooks saw, also those that run in the sandbox. */
  notes(): Promise<readonly Json[]>;
}

export interface Engine {
  readonly name: EngineName;
  play(agent: Agent<string, Json, unknown>, play: Play): Promise<Played>;
}

const memory: Engine = {
  name: 'memory',
  async play(agent, { input = 'Hi', ...options }) {
    const run = await testRun(agent, { input, tools, ...options });
    return played(
      run,
      async () => undefined,
      () => run.events({ until: 'waiting' }),
    );
  },
};

const scripts = new Map<string, LanguageModel | ModelProvider>();
let bed: Promise<TestBed> | undefined;

const temporal: Engine = {
  name: 'temporal',
  async play(agent, { input = 'Hi', model, onDelta, ...options }) {
    const { client } = await (bed ??= startBed());
    const name = `script-${scripts.size}`;
    scripts.set(name, model);
    const run = await client.start(agent.name, input, { model: `test/${name}`, ...options });
    const following = follow(run.events({ until: 'waiting' }), onDelta);
    return played(
      run,
      () => following,
      () => run.events({ until: 'waiting', deltas: false }),
    );
  },
};

async function follow(events: AsyncIterable<RunEvent | Delta>, onDelta: Play['onDelta']): Promise<void> {
  for await (const event of events) if (isDelta(event)) onDelta?.(event);
}

function startBed(): Promise<TestBed> {
  return startTestBed(() => ({ parts: [] }), {
    agents: join(__dirname, 'agents.ts'),
    bundle: JSON.parse(readFileSync(join(testDirectory(), 'conformance-bundle.json'), 'utf8')) as WorkflowBundle,
    tools,
    models: { providers: { test: { model: (name) => modelOf(name) } } },
  });
}

function modelOf(name: string): LanguageModel | Promise<LanguageModel> {
  const script = scripts.get(name);
  if (script === undefined) throw new Error(`There is no script "${name}".`);
  return 'model' in script ? script.model(name) : script;
}

interface AnyRun {
  outcome(): Promise<Outcome<unknown>>;
  resume(interruptId: string, answer: Json): Promise<void>;
  cancel(): Promise<void>;
  transcript(): Promise<readonly StoredMessage[]>;
  transcript(options: { readonly shape: 'agentic' }): Promise<readonly AgenticMessage[]>;
}

function played(run: AnyRun, followed: () => Promise<void>, events: () => AsyncIterable<RunEvent>): Played {
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
    cancel: () => run.cancel(),
    async waiting(count) {
      for (;;) {
        const outcome = await run.outcome();
        if (outcome.status !== 'waiting') throw new Error(`The run is ${outcome.status}.`);
        if (outcome.interrupts.length >= count) return outcome.interrupts;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    log,
    messages: async () => (await run.outcome(), run.transcript()),
    agentic: async () => (await run.outcome(), run.transcript({ shape: 'agentic' })),
    transcript: async () => (await run.outcome(), (await run.transcript()).map(lineOf)),
    notes: async () => (await log()).flatMap((event) => (event.type === 'custom' && event.name === 'note' ? [event.data] : [])),
  };
}

/** Runs a case on each engine that it names, with the same assertions. */
export function onEngines(title: string, test: (engine: Engine) => Promise<void>): void {
  const found = cases.find(({ key }) => key === keyOf(title));
  if (found === undefined) throw new Error(`"${title}" begins with the key of no case.`);
  for (const name of found.engines) it(`${title} (${name})`, () => test(name === 'memory' ? memory : temporal));
}

/** A client of the server that cases run on. */
export async function serverClient(): Promise<HoldfastClient> {
  return (await (bed ??= startBed())).client;
}

/** Ends the worker that the cases of a file used. */
export async function closeEngines(): Promise<void> {
  await (await bed)?.close();
  bed = undefined;
}
