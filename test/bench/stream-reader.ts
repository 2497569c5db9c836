import { randomUUID } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { now } from './report/numbers';
import type { Reading } from './stream';

const [, , url = '', model = '', count = '1', rounds = '1', protocol = 'events'] = process.argv;

interface Said {
  readonly type?: string;
  readonly text?: string;
  readonly delta?: string;
  readonly result?: { readonly artifactUpdate?: { readonly artifact?: { readonly parts?: readonly { readonly text?: string }[] } } };
}

interface Spoken {
  open(id: string): Promise<Response>;
  textOf(said: Said, event?: string): string | undefined;
}

function post(path: string, body: object): Promise<Response> {
  return fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

const user = { id: 'm', role: 'user' };
const protocols: Readonly<Record<string, Spoken>> = {
  events: {
    async open(id) {
      await post('/runs', { agent: 'talks', input: 'Talk.', model: `openai-compatible/${model}`, id });
      return fetch(`${url}/runs/${id}/events`);
    },
    textOf: ({ text }, event) => (event === 'text-delta' ? text : undefined),
  },
  agui: {
    open: (id) => post('/agui/talks', { threadId: id, runId: id, protocolVersion: '1.0', messages: [{ ...user, content: 'Talk.' }] }),
    textOf: ({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? delta : undefined),
  },
  aisdk: {
    open: (id) => post('/aisdk/talks', { id, messages: [{ ...user, parts: [{ type: 'text', text: 'Talk.' }] }] }),
    textOf: ({ type, delta }) => (type === 'text-delta' ? delta : undefined),
  },
  a2a: {
    open(id) {
      const message = { messageId: id, contextId: id, role: 'ROLE_USER', parts: [{ text: 'Talk.' }] };
      return post('/a2a/talks', { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } });
    },
    textOf: ({ result }) => result?.artifactUpdate?.artifact?.parts?.map(({ text }) => text ?? '').join(''),
  },
  responses: {
    open: () => post('/v1/responses', { model: 'talks', input: 'Talk.', stream: true }),
    textOf: ({ type, delta }) => (type === 'response.output_text.delta' ? delta : undefined),
  },
};

async function read({ open, textOf }: Spoken): Promise<Reading> {
  const { body } = await open(randomUUID());
  if (body === null) throw new Error('No events.');
  const stream = body.pipeThrough(new TextDecoderStream() as never).pipeThrough(new EventSourceParserStream());
  const delays: number[] = [];
  let first = 0;
  let last = 0;
  for await (const { event, data } of stream as unknown as AsyncIterable<{ event?: string; data: string }>) {
    const came = now();
    const text = data === '[DONE]' ? undefined : textOf(JSON.parse(data) as Said, event)?.trim();
    if (text === undefined || text === '') continue;
    for (const token of text.split(' ')) delays.push(came - Number(token));
    first ||= came;
    last = came;
  }
  return { delays, first, last };
}

async function main(spoken: Spoken): Promise<void> {
  const readings: Reading[] = [];
  for (let round = 0; round < Number(rounds); round++)
    readings.push(...(await Promise.all(Array.from({ length: Number(count) }, () => read(spoken)))));
  console.log(JSON.stringify(readings));
}

main(protocols[protocol] as Spoken).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
