import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gate } from '../support/gate';
import type { Gate } from '../support/gate';

export interface Receipt {
  readonly key: string;
  readonly amount: number;
  readonly number: number;
}

/**
 * Where a request is held. Payments: before the money moves (only for a listening caller; `late`: always), or before the answer. Lookups:
 * before the answer.
 */
export type HoldPoint = 'uncounted' | 'late' | 'counted' | 'asked';

export interface HeldRequest extends Gate {
  /** Settles when the sender is gone. */
  readonly gone: Promise<void>;
}

export interface PaymentServer {
  readonly url: string;
  /** Money moves once per idempotency key. */
  readonly receipts: readonly Receipt[];
  readonly requests: readonly string[];
  hold(key: string, point: HoldPoint): HeldRequest;
  breakOff(key: string): void;
  close(): Promise<void>;
}

export async function startPaymentServer(): Promise<PaymentServer> {
  const receipts: Receipt[] = [];
  const requests: string[] = [];
  const held = new Map<string, Gate & { leave(): void }>();
  const brokenOff = new Set<string>();

  const pass = async (key: string, point: HoldPoint, response: ServerResponse): Promise<void> => {
    const holding = held.get(`${point} ${key}`);
    if (holding === undefined) return;
    held.delete(`${point} ${key}`);
    const gone = once(response, 'close').then(holding.leave);
    const opened = holding.pass();
    await (point === 'late' ? opened : Promise.race([opened, gone]));
  };

  const pay = async (key: string, amount: number, response: ServerResponse): Promise<Receipt | undefined> => {
    await pass(key, 'uncounted', response);
    if (response.destroyed) return undefined;
    await pass(key, 'late', response);
    let receipt = receipts.find((known) => known.key === key);
    if (receipt === undefined) receipts.push((receipt = { key, amount, number: receipts.length + 1 }));
    await pass(key, 'counted', response);
    return receipt;
  };

  const find = async (key: string, response: ServerResponse): Promise<Receipt | undefined> => {
    await pass(key, 'asked', response);
    if (brokenOff.delete(key)) response.destroy();
    return receipts.find((known) => known.key === key);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const paying = request.method === 'POST';
    const key = paying ? String(request.headers['idempotency-key']) : decodeURIComponent((request.url ?? '').slice('/payments/'.length));
    requests.push(`${request.method ?? ''} ${key}`);
    const receipt = await (paying ? pay(key, await amountIn(request), response) : find(key, response));
    response.statusCode = receipt === undefined ? 404 : 200;
    response.end(JSON.stringify(receipt ?? null));
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    receipts,
    requests,
    hold(key, point) {
      const holding = gate();
      let leave: () => void = () => undefined;
      const gone = new Promise<void>((resolve) => (leave = resolve));
      held.set(`${point} ${key}`, { ...holding, leave });
      return { ...holding, gone };
    },
    breakOff: (key) => void brokenOff.add(key),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function amountIn(request: IncomingMessage): Promise<number> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return (JSON.parse(body) as { amount: number }).amount;
}
