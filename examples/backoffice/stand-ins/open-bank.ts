/** The bank pays every request, so a repeated request pays twice. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Payment {
  readonly key: string;
  readonly kind: string;
  readonly order: string;
  readonly amount: number;
}

export interface Bank {
  readonly url: string;
  readonly payments: readonly Payment[];
  readonly mails: readonly { readonly key: string; readonly to: string }[];
  close(): Promise<void>;
}

export async function openBank(port = 0): Promise<Bank> {
  const payments: Payment[] = [];
  const mails: { readonly key: string; readonly to: string }[] = [];
  const server = createServer((request, response) => {
    void answer(request, response, payments, mails);
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments,
    mails,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  payments: Payment[],
  mails: { key: string; to: string }[],
): Promise<void> {
  const say = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const { method = '', url = '' } = request;
  if (method === 'POST' && url === '/payments') {
    const payment = (await bodyOf(request)) as Payment;
    payments.push(payment);
    return say(200, { payment: `p-${payments.length}`, amount: payment.amount });
  }
  if (method === 'POST' && url === '/mails') {
    const mail = (await bodyOf(request)) as { key: string; to: string };
    // The same letter is sent once.
    if (!mails.some(({ key }) => key === mail.key)) mails.push(mail);
    return say(200, { sent: mail.to });
  }
  if (method === 'GET' && url.startsWith('/payments/')) {
    const key = decodeURIComponent(url.slice('/payments/'.length));
    const at = payments.findIndex((payment) => payment.key === key);
    return at < 0 ? say(404, {}) : say(200, { payment: `p-${at + 1}`, amount: payments[at]?.amount });
  }
  if (method === 'GET' && url === '/report') {
    const total = payments.reduce((sum, { amount }) => sum + amount, 0);
    return say(200, { payments: payments.length, keys: new Set(payments.map(({ key }) => key)).size, total, mails: mails.length });
  }
  say(404, { error: `There is no ${method} ${url}.` });
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as unknown;
}
