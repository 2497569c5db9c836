import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/models';
import { defineTool } from '../../activities/tools/tools';
import type { WorkflowBundle } from '../../worker/bundle';
import { HoldfastWorker } from '../../worker/create-worker';
import type { ChaosSettings } from './chaos-bed';
import type { Receipt } from './payment-server';

/** A tool that pays at a payment server, under the key of the call. `place` is the address of the server, and what begins the keys of a run there. */
function paymentTools(place: string): Readonly<Record<string, unknown>> {
  const [url = '', run = ''] = place.split('#');
  const keyOf = (key: string): string => `${run}/${key}`;
  return {
    refund: defineTool({
      description: 'Pays money back.',
      inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
      effect: 'once',
      execute: async ({ amount }, call) => {
        const response = await fetch(`${url}/payments`, {
          method: 'POST',
          headers: { 'idempotency-key': keyOf(call.idempotencyKey) },
          body: JSON.stringify({ amount }),
        });
        return { paid: ((await response.json()) as Receipt).amount };
      },
      reconcile: async (_, call) => {
        const response = await fetch(`${url}/payments/${encodeURIComponent(keyOf(call.idempotencyKey))}`);
        return response.ok ? { happened: true, result: { paid: ((await response.json()) as Receipt).amount } } : { happened: false };
      },
    }),
  };
}

/** A worker whose model answers so, and whose tool pays at the payment server of a place. */
export function servePayments(
  answer: (request: GenerateRequest) => Promise<GenerateAnswer>,
): (settings: ChaosSettings, taskQueue: string, place: string) => Promise<HoldfastWorker> {
  return (settings, taskQueue, place) =>
    HoldfastWorker.create({
      server: settings.server,
      agents: settings.agents,
      bundle: JSON.parse(readFileSync(settings.bundle, 'utf8')) as WorkflowBundle,
      tools: paymentTools(place),
      models: { names: { default: ['test/model'] }, providers: { test: { model: () => ({ generate: answer }) } } },
      bundles: settings.bundles,
      taskQueue,
      modelFacts: { heartbeatMs: 1500 },
      toolDefaults: { heartbeatMs: 1500 },
      shutdownGraceMs: 0,
    });
}
