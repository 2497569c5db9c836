/** A client of the service in a process of its own: starts runs and reads their server-sent events. Prints what it measured, a line of JSON. */
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

const [, , url = '', model = '', count = '1', rounds = '1'] = process.argv;

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

async function main(): Promise<void> {
  const readings: Reading[] = [];
  for (let round = 0; round < Number(rounds); round++)
    readings.push(...(await Promise.all(Array.from({ length: Number(count) }, readOne))));
  console.log(JSON.stringify(readings));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
