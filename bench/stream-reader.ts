/** A client of the service in a process of its own: starts runs and reads their server-sent events. Prints what it measured, a line of JSON. */
import { randomUUID } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { now } from './clock';

interface Reading {
  readonly firstMs: number;
  readonly delays: readonly number[];
  readonly tokens: number;
  /** When the first and the last token came. */
  readonly first: number;
  readonly last: number;
  readonly replaced: number;
}

const [, , url = '', model = '', count = '1', rounds = '1', protocol = 'events'] = process.argv;

async function readOne(): Promise<Reading> {
  const started = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'talks', input: 'Talk.', model: `openai-compatible/${model}` }),
  });
  const { id } = (await started.json()) as { id: string };
  const response = await fetch(`${url}/runs/${id}/events`);
  if (response.body === null) throw new Error('No events.');
  const stream = response.body.pipeThrough(new TextDecoderStream() as never).pipeThrough(new EventSourceParserStream());
  const delays: number[] = [];
  let replaced = 0;
  let first = 0;
  let last = 0;
  for await (const { event, data } of stream as unknown as AsyncIterable<{ event?: string; data: string }>) {
    const came = now();
    if (event === 'message-replaced' || event === 'attempt-void') replaced += 1;
    if (event !== 'text-delta') continue;
    const { text } = JSON.parse(data) as { text: string };
    for (const token of text.trim().split(' ')) delays.push(came - Number(token));
    first ||= came;
    last = came;
  }
  return { firstMs: delays[0] ?? Infinity, delays, tokens: delays.length, first, last, replaced };
}

/** What a client of a protocol posts, and where the text is in an event. Its agent talks as its own model does. */
interface Spoken {
  readonly path: string;
  readonly body: object;
  textOf(event: Record<string, never>): string | undefined;
}

const id = randomUUID();
const spoken: Readonly<Record<string, Spoken>> = {
  agui: {
    path: '/agui/talks',
    body: { threadId: id, runId: id, protocolVersion: '1.0', messages: [{ id: 'm', role: 'user', content: 'Talk.' }] },
    textOf: ({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? delta : undefined),
  },
  aisdk: {
    path: '/aisdk/talks',
    body: { id, messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Talk.' }] }] },
    textOf: ({ type, delta }) => (type === 'text-delta' ? delta : undefined),
  },
  a2a: {
    path: '/a2a/talks',
    body: {
      ...{ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage' },
      params: { message: { messageId: id, contextId: id, role: 'ROLE_USER', parts: [{ text: 'Talk.' }] } },
    },
    textOf: ({ result }) =>
      (result as { artifactUpdate?: { artifact?: { parts?: readonly { text?: string }[] } } } | undefined)?.artifactUpdate?.artifact?.parts
        ?.map(({ text }) => text ?? '')
        .join(''),
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'talks', input: 'Talk.', stream: true },
    textOf: ({ type, delta }) => (type === 'response.output_text.delta' ? delta : undefined),
  },
};

/** From the writing of a token to its coming, in a protocol. */
async function readAs({ path, body, textOf }: Spoken): Promise<Reading> {
  // Each round is another conversation.
  const fresh = JSON.parse(JSON.stringify(body).replaceAll(id, randomUUID())) as object;
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fresh) };
  const response = await fetch(`${url}${path}`, init);
  if (response.body === null) throw new Error('No events.');
  const stream = response.body.pipeThrough(new TextDecoderStream() as never).pipeThrough(new EventSourceParserStream());
  const delays: number[] = [];
  let first = 0;
  let last = 0;
  for await (const { data } of stream as unknown as AsyncIterable<{ data: string }>) {
    const came = now();
    if (data === '[DONE]') continue;
    const text = textOf(JSON.parse(data) as Record<string, never>)?.trim() ?? '';
    if (text === '') continue;
    for (const token of text.split(' ')) delays.push(came - Number(token));
    first ||= came;
    last = came;
  }
  return { firstMs: delays[0] ?? Infinity, delays, tokens: delays.length, first, last, replaced: 0 };
}

async function main(): Promise<void> {
  const as = spoken[protocol];
  const readings: Reading[] = [];
  for (let round = 0; round < Number(rounds); round++)
    readings.push(...(await Promise.all(Array.from({ length: Number(count) }, () => (as === undefined ? readOne() : readAs(as))))));
  console.log(JSON.stringify(readings));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
