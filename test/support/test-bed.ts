import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { TemporalSettings } from '../../host/connection';
import type { WorkflowBundle } from '../../worker/bundle/bundle';
import type { WorkerOptions } from '../../worker/create-worker';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import { fixtureTools } from '../fixtures/tools';
import type { Answerer } from './answers';
import { isOurs, madeBundle } from './made-bundle';
import { stuckRuns } from './stuck-runs';

export function testServer(): TemporalSettings {
  const address = process.env['HOLDFAST_TEST_ADDRESS'];
  if (address === undefined) throw new Error('This test needs the server that jest.config.js starts for its project.');
  return { address, namespace: 'default' };
}

export function testDirectory(): string {
  return process.env['HOLDFAST_TEST_DIRECTORY'] ?? '';
}

export const fixtureAgents = join(__dirname, '..', 'fixtures', 'agents.ts');

export function fixtureBundle(): WorkflowBundle {
  return JSON.parse(readFileSync(join(testDirectory(), 'fixture-bundle.json'), 'utf8')) as WorkflowBundle;
}

export { calls, script, text } from './answers';
export type { Answerer } from './answers';

export interface TestBed {
  readonly worker: HoldfastWorker;
  readonly client: HoldfastClient;
  readonly taskQueue: string;
  /** Fails if a run is stuck. `mayBeStuck`: tests break runs on purpose. */
  close(options?: { readonly mayBeStuck?: boolean }): Promise<void>;
}

function bundleOf(agents: string | undefined): WorkflowBundle | Promise<WorkflowBundle> | undefined {
  if (agents === undefined) return fixtureBundle();
  return isOurs(agents) ? madeBundle(agents) : undefined;
}

export async function startTestBed(answer: Answerer, options: Partial<WorkerOptions> = {}): Promise<TestBed> {
  quietRuntime();
  const taskQueue = options.taskQueue ?? `queue-${randomUUID()}`;
  const server = testServer();
  const shared = options.bundle ?? (await bundleOf(options.agents));
  const worker = await HoldfastWorker.create({
    server,
    agents: fixtureAgents,
    bundle: shared,
    tools: fixtureTools,
    models: { providers: { test: { model: () => ({ generate: async (request) => answer(request) }) } } },
    bundles: join(testDirectory(), 'bundles', shared?.buildId ?? taskQueue),
    taskQueue,
    shutdownGraceMs: 2000,
    ...options,
  });
  const client = await connect({
    server,
    taskQueue,
    ...(options.dataConverter === undefined ? {} : { dataConverter: options.dataConverter }),
  });
  return {
    worker,
    client,
    taskQueue,
    async close({ mayBeStuck = false } = {}) {
      const stuck = mayBeStuck ? [] : await stuckRuns(taskQueue);
      await client.close();
      await worker.shutdown();
      if (stuck.length > 0) throw new Error(`Runs are stuck: ${stuck.join('; ')}`);
    },
  };
}
