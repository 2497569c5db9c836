import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { HoldfastClient } from '../../client/connect';
import { connect } from '../../client/connect';
import type { RunReader } from '../../client/reading/run-reader';
import { madeBundle } from '../support/made-bundle';
import type { TestBed } from '../support/test-bed';
import { startTestBed, testDirectory, testServer } from '../support/test-bed';
import { KilledWorker } from './killed-worker';
import { models } from './model';
import type { Script } from './script';
import { halves, outputs, tools } from './tools';

export interface ParityBed {
  readonly client: HoldfastClient;
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  kill(): void;
  /** Time of the worker's return after the last kill, or the current time while the worker is away. */
  disturbedAt(): number;
  close(): Promise<void>;
}

export interface ParityBeds {
  bedFor(script: Script): Promise<ParityBed>;
  readonly kills: number;
  close(): Promise<void>;
}

/** Milliseconds that a client waits for an absent worker. */
const aloneMs = 500;

export const agentsPath = join(__dirname, `agents${extname(__filename)}`);

export const workerParts = {
  tools,
  outputs,
  middleware: halves,
  models: { providers: { test: models } },
  // `HOLDFAST_PARITY_CACHE=2`: almost every wait evicts runs.
  maxCachedRuns: Number(process.env['HOLDFAST_PARITY_CACHE'] ?? 1000),
  // Many parallel runs keep the worker busy for more than a second.
  stickyTimeoutMs: 10_000,
};

export async function openParityBeds(): Promise<ParityBeds> {
  const bundle = await madeBundle(agentsPath);
  const bundles = join(testDirectory(), 'bundles', bundle.buildId);
  const file = join(testDirectory(), 'parity-bundle.json');
  writeFileSync(file, JSON.stringify(bundle));
  const open = (taskQueue = `parity-${randomUUID()}`): Promise<TestBed> =>
    startTestBed(() => ({ parts: [] }), { ...workerParts, agents: agentsPath, bundle, bundles, taskQueue });
  const shared = await open();
  let killed: { readonly worker: KilledWorker; readonly client: Promise<HoldfastClient> } | undefined;
  const stays = {
    leave: () => Promise.reject(new Error('The worker that several share stays.')),
    comeBack: () => Promise.reject(new Error('The worker that several share stays.')),
    kill: (): void => undefined,
    disturbedAt: (): number => 0,
    close: async (): Promise<void> => undefined,
  };

  const bedOfKilled = async (): Promise<ParityBed> => {
    const taskQueue = `killed-${randomUUID()}`;
    killed ??= {
      worker: new KilledWorker({ server: testServer(), bundle: file, bundles, taskQueue }),
      client: connect({ server: testServer(), taskQueue }),
    };
    const { worker, client } = killed;
    return { ...stays, client: await client, kill: () => worker.kill(), disturbedAt: () => worker.disturbedAt };
  };

  const bedOfItsOwn = async (): Promise<ParityBed> => {
    const bed = await open();
    let back: TestBed | undefined;
    const leave = async (): Promise<void> => {
      await (back === undefined ? bed.worker.shutdown() : back.close());
      back = undefined;
    };
    let there = true;
    // Without a worker, the client must not wait.
    const { reader } = bed.client as unknown as { readonly reader: RunReader };
    const withDeadline = reader.withDeadline.bind(reader);
    reader.withDeadline = (deadline, run) => withDeadline(there ? deadline : Math.min(deadline, Date.now() + aloneMs), run);
    return {
      ...stays,
      client: bed.client,
      async leave() {
        await leave();
        there = false;
      },
      async comeBack() {
        back = await open(bed.taskQueue);
        there = true;
      },
      async close() {
        if (there) await leave();
        await bed.client.close();
      },
    };
  };

  return {
    get kills() {
      return killed?.worker.kills ?? 0;
    },
    bedFor: async ({ away, killsAt }) =>
      away !== undefined ? bedOfItsOwn() : killsAt !== undefined ? bedOfKilled() : { ...stays, client: shared.client },
    async close() {
      await shared.close();
      await killed?.worker.close();
      await (await killed?.client)?.close();
    },
  };
}
