import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicMessages } from './anthropic-messages';
import { googleGenerate } from './google-generate';
import { openaiChat } from './openai-chat';
import { openaiResponses } from './openai-responses';
import type { Dialect, FakeAnswer, FakeRefusal, FakeStep, Frame } from './step';
import { saidOf } from './step';

export type { FakeAnswer, FakeBlock, FakeError, FakeRefusal, FakeStep, FakeUsage } from './step';

export interface FakeRequest {
  readonly dialect: Dialect['name'];
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, any>>; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into it
  /** By `performance.now()`. */
  readonly writtenAt: readonly number[];
  /** Settles when the response was sent or the client left. */
  readonly over: Promise<'sent' | 'broken'>;
}

export interface FakeProvider {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Every step answers one request, in order. A function answers requests without a step. */
  answer(...next: readonly (FakeStep | ((request: FakeRequest) => FakeStep))[]): void;
  close(): Promise<void>;
}

const dialects: readonly Dialect[] = [openaiResponses, openaiChat, anthropicMessages, googleGenerate];

export async function startFakeProvider(): Promise<FakeProvider> {
  const requests: FakeRequest[] = [];
  const steps: FakeStep[] = [];
  let otherwise: ((request: FakeRequest) => FakeStep) | undefined;
  const server = createServer((incoming, response) => {
    respond(incoming, response, requests, (request) => steps.shift() ?? otherwise?.(request)).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer(...next) {
      for (const step of next) {
        if (typeof step === 'function') otherwise = step;
        else steps.push(step);
      }
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function respond(
  incoming: IncomingMessage,
  response: ServerResponse,
  requests: FakeRequest[],
  next: (request: FakeRequest) => FakeStep | undefined,
): Promise<void> {
  const path = incoming.url ?? '';
  const dialect = dialects.find(({ speaks }) => speaks(new URL(path, 'http://x').pathname));
  if (dialect === undefined) return sendJson(response, 404, { error: { message: `The fake provider has no ${path}.` } });
  const body = JSON.parse(await textOf(incoming)) as Record<string, unknown>;
  const writtenAt: number[] = [];
  const over = new Promise<'sent' | 'broken'>((resolve) =>
    response.on('close', () => resolve(response.writableFinished ? 'sent' : 'broken')),
  );
  const request: FakeRequest = { dialect: dialect.name, path, headers: incoming.headers, body, writtenAt, over };
  requests.push(request);
  const step = next(request);
  if (step === undefined)
    return sendJson(response, 400, dialect.errorBody({ status: 400, message: 'The script of the fake provider is over.' }));
  if ('error' in step) return refuse(response, step, dialect);
  if ('body' in step) {
    response.writeHead(200, { 'content-type': step.contentType ?? 'application/json' }).end(step.body);
    return;
  }
  const said = saidOf(step, requests.length, dialect.modelOf(path, body));
  if (dialect.streams(path, body)) return stream(response, dialect.frames(said, body), step, dialect, writtenAt);
  await step.before?.(0);
  writtenAt.push(performance.now());
  sendJson(response, 200, dialect.whole(said));
}

function refuse(response: ServerResponse, { error, headers, body }: FakeRefusal, dialect: Dialect): void {
  response
    .writeHead(error.status, { 'content-type': 'application/json', ...headers })
    .end(body ?? JSON.stringify(dialect.errorBody(error)));
}

async function stream(
  response: ServerResponse,
  frames: Iterable<Frame>,
  { delayMs, before, cut }: FakeAnswer,
  dialect: Dialect,
  writtenAt: number[],
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const begun = performance.now();
  let pieces = 0;
  let whole = true;
  for (const frame of frames) {
    if (cut !== undefined && whole && pieces >= cut.after && (cut.after > 0 || frame.piece)) {
      if (cut.how === 'stall') return;
      // Node sends written data only on the next loop turn.
      await new Promise((resolve) => setImmediate(resolve));
      if (cut.how === 'disconnect') return void response.destroy();
      if (cut.how === 'end') return void response.end();
      response.write(cut.how === 'garble' ? 'data: {"half":\n\n' : dialect.errorFrame(cut.how));
      whole = false;
    }
    if (frame.piece) {
      if (before !== undefined) await before(pieces);
      // By the clock, so that late timers do not add up.
      if (delayMs !== undefined && pieces > 0) await until(begun + pieces * delayMs);
      if (response.destroyed) return;
      writtenAt.push(performance.now());
      pieces++;
    }
    response.write(frame.text);
  }
  response.end();
}

function until(time: number): Promise<void> | undefined {
  const wait = time - performance.now();
  return wait <= 0 ? undefined : new Promise((resolve) => setTimeout(resolve, wait));
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
