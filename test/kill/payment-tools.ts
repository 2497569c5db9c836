import { z } from 'zod';
import type { LanguageModel } from '../../activities/models/language-model';
import { defineTool } from '../../activities/tools/tools';
import type { Receipt } from './payment-server';
import type { serveOnRequest } from './serve-on-request';
import { chaosWorker } from './serve-on-request';

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

export function servePayments(answer: LanguageModel['generate']): Parameters<typeof serveOnRequest>[0] {
  return (settings, taskQueue, place) => chaosWorker(settings, taskQueue, paymentTools(place), answer);
}
