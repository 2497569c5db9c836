import { ServiceClient } from '../../../client/http/index';

const text = ['retry: 1000\n\n', ...['Grüße', '你好', '🙂'].map((said, offset) => frame(offset, said)), ': still here\n\n'].join('');

function frame(offset: number, said: string): string {
  return `id: ${offset}\nevent: custom\ndata: ${JSON.stringify({ type: 'custom', offset, data: said })}\n\n`;
}

function clientOf(pieces: readonly Uint8Array[]): ServiceClient {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const answer = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  return new ServiceClient('http://service', { fetch: () => Promise.resolve(answer) });
}

it.each([1, 2, 3, 7, 10_000])('a client of the service reads the events of a stream that comes in pieces of %d bytes', async (size) => {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
  const said: unknown[] = [];
  for await (const event of clientOf(pieces).events('r')) if (event.type === 'custom') said.push(event.data);
  expect(said).toEqual(['Grüße', '你好', '🙂']);
});
