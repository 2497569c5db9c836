import { join } from 'node:path';
import { z } from 'zod';
import type { GenerateAnswer } from '../../../../activities/models/language-model';
import { defineTool } from '../../../../activities/tools/tools';
import { connect } from '../../../../client/connect';
import type { Message } from '../../../../contract/messages/messages';
import { connectTemporal } from '../../../../host/connection';
import { DirectoryDriver, snapshotStorage } from '../../../../host/snapshot-storage';
import { HoldfastWorker } from '../../../../worker/create-worker';
import { recordService, takeDeadWorkers } from '../../../../cli/processes/service-record';
import { retryCallsOf } from '../../../../worker/builds/predecessors';
import { quietRuntime } from '../../../../worker/runtime';
import type { Peer, PeerSetup } from '../peer';

const taskQueue = 'holdfast';
const inputSchema = z.object({ run: z.string(), turn: z.number() });

export async function open({ temporal, directory, model, words, pay, refund }: PeerSetup): Promise<Peer> {
  if (temporal === undefined) throw new Error('Holdfast needs a Temporal server.');
  quietRuntime();
  const dataConverter = snapshotStorage(new DirectoryDriver(join(directory, 'snapshots')));
  const worker = await HoldfastWorker.create({
    server: temporal,
    agents: join(__dirname, 'holdfast-agents.js'),
    tools: {
      words: defineTool({ description: 'New words.', effect: 'none', inputSchema, execute: () => words() }),
      pay: defineTool({
        description: 'Pays.',
        effect: 'idempotent',
        inputSchema,
        timeout: '2h',
        execute: (input, call) => pay(input, call.idempotencyKey),
      }),
      refund: defineTool({ description: 'Pays money back.', effect: 'idempotent', inputSchema, execute: (input) => refund(input) }),
    },
    models: {
      providers: {
        bench: {
          model: () => ({
            generate: ({ messages }): Promise<GenerateAnswer> => {
              const { text, call } = model(taskOf(messages), messages.filter(({ role }) => role === 'tool').length);
              const said = { type: 'text' as const, text };
              const parts = call === undefined ? [said] : [said, { ...call, type: 'tool-call' as const, input: { ...call.input } }];
              return Promise.resolve({ parts, usage: { inputTokens: 100, outputTokens: 100 } });
            },
          }),
        },
      },
    },
    bundles: join(directory, 'bundles'),
    taskQueue,
    dataConverter,
  });
  const forget = recordService(directory, '', { agentsFile: '', taskQueue });
  const client = await connect({ server: temporal, taskQueue, dataConverter });
  const questions = new Map<string, string>();
  return {
    async run(id, task) {
      const run = await client.start('worker', task, { id });
      await run.result();
    },
    async park(id, task) {
      const run = await client.start('careful', task, { id });
      const outcome = await run.outcome();
      if (outcome.status !== 'waiting') throw new Error(`The run is ${outcome.status}.`);
      questions.set(id, outcome.interrupts[0]?.id ?? '');
    },
    async answer(id) {
      const run = client.run(id);
      await run.approve(questions.get(id) ?? '');
      await run.result();
    },
    async recover(ids, hasOneHost) {
      // As `holdfast dev` does. On a cluster, calls wait until the server misses heartbeats.
      if (hasOneHost) {
        const { connection, close } = await connectTemporal(temporal);
        await retryCallsOf(takeDeadWorkers(directory), { connection, namespace: temporal.namespace, taskQueue });
        await close();
      }
      await Promise.all(ids.map((id) => client.run(id).result()));
    },
    async close() {
      forget();
      await client.close();
      await worker.shutdown();
    },
  };
}

function taskOf(messages: readonly Message[]): string {
  const asked = messages.find(({ role }) => role === 'user')?.parts[0];
  if (asked?.type !== 'text') throw new Error('The run has no task.');
  return asked.text;
}
