import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../contract/plain/messages';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { TemporalSettings } from '../../host/connection';
import type { WorkflowBundle } from '../../worker/bundle';
import type { WorkerOptions } from '../../worker/create-worker';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import { fixtureTools } from '../fixtures/tools';

/** The server that the Jest run started. */
export function testServer(): TemporalSettings {
  const address = process.env['HOLDFAST_TEST_ADDRESS'];
  if (address === undefined) throw new Error('This test needs the server that jest.config.js starts for its project.');
  return { address, namespace: 'default' };
}

export function testDirectory(): string {
  return process.env['HOLDFAST_TEST_DIRECTORY'] ?? '';
}

export function fixtureBundle(): WorkflowBundle {
  return JSON.parse(readFileSync(join(testDirectory(), 'fixture-bundle.json'), 'utf8')) as WorkflowBundle;
}

export type Answerer = (request: GenerateRequest) => GenerateAnswer | Promise<GenerateAnswer>;

export interface TestBed {
  readonly worker: HoldfastWorker;
  readonly client: HoldfastClient;
  readonly taskQueue: string;
  close(): Promise<void>;
}

let queues = 0;

/** A worker and a client on a task queue of their own. The model `test/model` answers with what the test says. */
export async function startTestBed(answer: Answerer, options: Partial<WorkerOptions> = {}): Promise<TestBed> {
  quietRuntime();
  const taskQueue = options.taskQueue ?? `queue-${process.pid}-${queues++}`;
  const server = testServer();
  const worker = await HoldfastWorker.create({
    server,
    agents: join(__dirname, '..', 'fixtures', 'agents.ts'),
    bundle: options.agents === undefined ? fixtureBundle() : undefined,
    tools: fixtureTools,
    models: { providers: { test: { model: () => ({ generate: async (request) => answer(request) }) } } },
    bundles: join(testDirectory(), 'bundles', taskQueue),
    taskQueue,
    shutdownGraceMs: 2000,
    ...options,
  } as WorkerOptions);
  const client = await connect({ server, taskQueue, ...(options.dataConverter === undefined ? {} : { dataConverter: options.dataConverter }) });
  return {
    worker,
    client,
    taskQueue,
    async close() {
      await client.close();
      await worker.shutdown();
    },
  };
}

export function text(value: string): GenerateAnswer {
  return { parts: [{ type: 'text', text: value }], usage: { inputTokens: 10, outputTokens: 5 } };
}

export function calls(...toolCalls: readonly { id?: string; name: string; input: Json }[]): GenerateAnswer {
  return {
    parts: toolCalls.map(({ id, name, input }, position) => ({ type: 'tool-call', id: id ?? `call-${position}`, name, input })),
    usage: { inputTokens: 10, outputTokens: 5 },
  };
}

/** Answers by position: the n-th answer for a transcript with n assistant messages. Stateless, so that many runs share it. */
export function script(...answers: readonly GenerateAnswer[]): Answerer {
  return ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    return answers[turn] ?? text(`no answer ${turn} in the script`);
  };
}
