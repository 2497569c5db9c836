import type { GenerateAnswer, GenerateRequest } from '../activities/models/models';
import { HoldfastWorker } from '../worker/create-worker';
import { quietRuntime } from '../worker/runtime';
import { join } from 'node:path';
import { benchTools } from './setup';

/** A worker process of the herd bench. With `hold` its last model calls never come back. */
async function main(address: string, directory: string, turns: number, hold: boolean): Promise<void> {
  quietRuntime();
  let held = 0;
  const generate = ({ messages }: GenerateRequest): Promise<GenerateAnswer> => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    if (turn < turns) return Promise.resolve({ parts: [{ type: 'tool-call', id: `call-${turn}`, name: 'look', input: { n: turn } }] });
    if (!hold) return Promise.resolve({ parts: [{ type: 'text', text: `Done after ${messages.length} messages.` }] });
    process.send?.({ held: ++held });
    return new Promise(() => undefined);
  };
  const worker = await HoldfastWorker.create({
    server: { address, namespace: 'default' },
    agents: join(__dirname, 'agents.js'),
    tools: benchTools,
    models: { providers: { bench: { model: () => ({ generate }) } } },
    bundles: join(directory, 'bundles'),
    taskQueue: 'herd',
    modelFacts: { heartbeatMs: 3000 },
  });
  process.send?.({ ready: true });
  process.on('message', () => {
    process.send?.({ misses: worker.parts.messages.misses });
  });
}

const [address = '', directory = '', turns = '0', hold = ''] = process.argv.slice(2);
main(address, directory, Number(turns), hold === 'hold').catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
