/**
 * A worker that prints `ready`, `in model:2 RUN`, `in tool:refund RUN` and `draining`. With `hold`, marked calls wait for a line on stdin.
 * SIGTERM drains.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { currentCall } from '../../activities/calls/call-context';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import { defined } from '../../contract/defined';
import { textOf } from '../../contract/messages/messages';
import { runIdOf } from '../../contract/names';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { quietRuntime } from '../../worker/runtime';
import { fixtureTools } from '../fixtures/tools';
import type { Payment, Step, WorkerSettings } from './child';
import { drainOnSigterm, runMain, say, workerWith } from './program';

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;

const released = new Promise<void>((resolve) => createInterface(process.stdin).once('line', () => resolve()));

async function reach(point: string, held: boolean): Promise<void> {
  say(`in ${point} ${runIdOf(currentCall()?.workflowId ?? '')}`);
  if (held) await released;
}

function takePayment(key: string, amount: number): Payment {
  const known = findPayment(key);
  if (known !== undefined) return known;
  const payment = { key, amount };
  appendFileSync(settings.payments, `${JSON.stringify(payment)}\n`);
  return payment;
}

function findPayment(key: string): Payment | undefined {
  if (!existsSync(settings.payments)) return undefined;
  const lines = readFileSync(settings.payments, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Payment).find((payment) => payment.key === key);
}

const tools = {
  ...fixtureTools,
  refund: defineTool({
    description: 'Pays money back.',
    inputSchema: z.object({ orderId: z.string(), amount: z.number(), hold: z.boolean().optional() }),
    effect: 'idempotent',
    execute: async ({ amount, hold }, call) => {
      const payment = takePayment(call.idempotencyKey, amount);
      await reach('tool:refund', hold === true && settings.hold === true);
      return payment;
    },
  }),
  pay: defineTool({
    description: 'Pays once.',
    inputSchema: z.object({ amount: z.number(), hold: z.boolean().optional() }),
    effect: 'once',
    ...(settings.payTimeout === undefined ? {} : { timeout: settings.payTimeout }),
    execute: async ({ amount, hold }, call) => {
      const payment = takePayment(call.idempotencyKey, amount);
      await reach('tool:pay', hold === true && settings.hold === true);
      return payment;
    },
    reconcile: async (_, call) => {
      await reach('reconcile', settings.holdReconcile === true);
      const payment = findPayment(call.idempotencyKey);
      return payment === undefined ? { happened: false } : { happened: true, result: payment };
    },
  }),
};

async function answer({ messages }: GenerateRequest): Promise<GenerateAnswer> {
  const steps = JSON.parse(textOf(messages[0] as GenerateRequest['messages'][number])) as readonly Step[];
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const step = steps[turn];
  await reach(`model:${turn + 1}`, step?.hold === true && settings.hold === true);
  const usage = { inputTokens: 10, outputTokens: 5 };
  if (step === undefined) return { parts: [{ type: 'text', text: `Seen: ${messages.map(({ role }) => role).join(', ')}.` }], usage };
  return {
    parts: step.calls.map(({ tool, input }, position) => ({ type: 'tool-call', id: `call-${turn}-${position}`, name: tool, input })),
    usage,
  };
}

async function main(): Promise<void> {
  quietRuntime();
  let { address } = settings;
  if (settings.serverDirectory !== undefined) {
    const server = await startEmbeddedServer({ directory: settings.serverDirectory });
    address = server.address;
    say(`server ${server.pid} ${server.address}`);
  }
  const worker = await workerWith(
    { ...settings, address },
    {
      tools,
      models: { providers: { test: { model: () => ({ generate: answer }) } } },
      ...defined({ shutdownGraceMs: settings.graceMs }),
    },
  );
  drainOnSigterm(() => {
    say('draining');
    return worker.shutdown();
  });
  say('ready');
  await worker.run();
}

runMain(main);
