/** A worker of the load's agents with options that `holdfast worker` does not have. Says `ready`. */
import { join } from 'node:path';
import { HoldfastWorker } from '../../worker/create-worker';
import { quietRuntime } from '../../worker/runtime';
import { load } from './model';
import type { LoadWorkerSettings } from './processes';
import { tools } from './tools';

async function main({ address, ...options }: LoadWorkerSettings): Promise<void> {
  quietRuntime();
  const worker = await HoldfastWorker.create({
    server: { address, namespace: 'default' },
    agents: join(__dirname, 'agents.js'),
    tools,
    models: { providers: { load } },
    ...options,
  });
  console.log('ready');
  await worker.run();
}

main(JSON.parse(process.argv[2] ?? '{}') as LoadWorkerSettings).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
