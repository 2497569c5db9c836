import { batchQueueOf } from '../../../contract/batches';
import type { BatchHead } from '../../../contract/batches';
import { HoldfastError } from '../../../contract/errors';
import { limits } from '../../../contract/limits';
import { linesOf } from '../../../service/batches/json-lines';
import { keptLines } from '../../../service/batches/kept-lines';
import type { AgentSummary } from '../../../service/project/load-project';
import { memoryStore } from '../../support/memory-store';
import { appOn } from '../../support/service-app';

async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('the lines of a file', () => {
  const file = Buffer.from('\ufeff"größe 😀"\r\n\n  \n{"a":1}\n"\ufeffb"');
  const expected = [
    { line: 1, text: '"größe 😀"' },
    { line: 4, text: '{"a":1}' },
    { line: 5, text: '"\ufeffb"' },
  ];

  it.each([1, 2, 3, 5, 1000])(
    'are the same in pieces of %i bytes: characters in two pieces, CRLF, empty lines, a byte order mark, no last line break',
    async (size) => {
      expect(await all(linesOf(piecesOf(file, size)))).toEqual(expected);
    },
  );

  it.each([1, 4, 100])('that are too large or no UTF-8 are named, and the next line is read, in pieces of %i bytes', async (size) => {
    const bytes = Buffer.concat([
      Buffer.from(`${'x'.repeat(21)}\n${'y'.repeat(20)}\n`),
      Buffer.from([0xff, 10]),
      Buffer.from(`z\n${'w'.repeat(30)}`),
    ]);
    expect(await all(linesOf(piecesOf(bytes, size), 20))).toEqual([
      { line: 1, problem: 'it has more than 20 bytes' },
      { line: 2, text: 'y'.repeat(20) },
      { line: 3, problem: 'it is no text in UTF-8' },
      { line: 4, text: 'z' },
      { line: 5, problem: 'it has more than 20 bytes' },
    ]);
  });
});

const text: AgentSummary = { name: 'talks', description: '', takesJob: false };
const inputSchema = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'], additionalProperties: false };
const job: AgentSummary = { name: 'clerk', description: '', takesJob: true, inputSchema };

function bed() {
  const store = memoryStore();
  const begun: BatchHead[] = [];
  const known = new Map<string, BatchHead>();
  const batches = {
    checkLine: async ({ id }: { readonly id: string }) => {
      if (id === 'theirs') throw new HoldfastError('action-forbidden', 'ada may not do this.');
    },
    start: async (head: BatchHead) => {
      const { id, agent, lines } = head;
      const before = known.get(id);
      if (before !== undefined && before.hash !== head.hash) throw new HoldfastError('batch-in-use', 'Other lines.');
      if (before === undefined) begun.push(head);
      known.set(id, before ?? head);
      return { id, agent, lines, isNew: before === undefined, uses: before === undefined };
    },
  };
  const place = { tenant: 'acme', address: '', namespace: '', taskQueue: batchQueueOf('q') };
  const app = appOn({ batches, place }, { store, agents: [text, job] });
  const send = async (lines: string | ReadableStream, query = 'agent=talks&id=b', type = 'application/jsonl') => {
    const response = await app.request(`/batches?${query}`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: lines,
      duplex: 'half',
    });
    return { status: response.status, body: (await response.json()) as { id?: string; error?: { code: string; message: string } } };
  };
  return { store, begun, send };
}

describe('an upload', () => {
  it('keeps lines in chunks of 500, of inputs and of starts, and begins after the last line', async () => {
    const { store, begun, send } = bed();
    const lines = Array.from({ length: 1201 }, (_, at) =>
      at === 3 ? '{"input":"x","id":"own","tags":["vip"],"values":{"a":1}}' : `"order ${at}"`,
    );
    expect(await send(lines.join('\n'))).toMatchObject({ status: 201, body: { id: 'b', isNew: true, agent: 'talks', lines: 1201 } });
    expect(begun).toMatchObject([{ lines: 1201, chunks: 3, concurrency: 20 }]);
    const kept = await all(keptLines(store, begun[0] as BatchHead));
    expect(kept).toHaveLength(1201);
    expect(kept[3]).toEqual({ line: 4, input: 'x', id: 'own', tags: ['vip'], values: { a: 1 }, chunk: 0 });
    expect(kept[1200]).toEqual({ line: 1201, input: 'order 1200', chunk: 2 });
  });

  it('takes an object with other fields than those of a start for an input', async () => {
    const { store, begun, send } = bed();
    await send('{"order":"1"}\n{"input":{"order":"2"}}', 'agent=clerk&id=b', 'application/x-ndjson');
    expect((await all(keptLines(store, begun[0] as BatchHead))).map(({ input }) => input)).toEqual([{ order: '1' }, { order: '2' }]);
  });

  it('with bad lines begins nothing and keeps nothing, and names the first ten by number and reason', async () => {
    const { store, begun, send } = bed();
    const bad = [
      '{"a":',
      '7',
      '{"input":"x","tags":"vip"}',
      '{"input":"x","id":"no id"}',
      '{"input":"x","id":"theirs"}',
      `"${'x'.repeat(limits.runInput + 1)}"`,
    ];
    const { status, body } = await send(
      [...Array.from({ length: 600 }, () => '"good"'), ...bad, ...Array.from({ length: 7 }, () => '8')].join('\n'),
    );
    expect({ status, code: body.error?.code, begun, entries: store.entries.size }).toEqual({
      status: 400,
      code: 'batch-invalid',
      begun: [],
      entries: 0,
    });
    const [first, ...named] = body.error?.message.split('\n') ?? [];
    expect(first).toBe('13 lines of the batch cannot be started, of which the first 10 are here:');
    expect(named).toEqual([
      expect.stringMatching(/^line 601: it is no JSON: /),
      'line 602: The agent "talks" takes a text, or a list of messages.',
      'line 603: The start is not what this route takes: tags: Invalid input: expected array, received string.',
      'line 604: "no id" is no id for a run.',
      'line 605: ada may not do this.',
      expect.stringMatching(/^line 606: The input has \d+ bytes; at most 262144 fit\.$/),
      ...[607, 608, 609, 610].map((line) => `line ${line}: The agent "talks" takes a text, or a list of messages.`),
    ]);
    const misfit = await send('{"order":"1"}\n{"order":2}', 'agent=clerk');
    expect(misfit.body.error?.message).toContain(
      'A line of the batch cannot be started:\nline 2: The input of agent "clerk" does not fit its inputSchema',
    );
  });

  it('that breaks off begins nothing, and the same id is taken later', async () => {
    const { store, begun, send } = bed();
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('"order 1"\n'.repeat(1500)));
      },
      pull: (controller) => controller.error(new Error('gone')),
    });
    expect(await send(broken)).toMatchObject({ status: 400, body: { error: { code: 'request-invalid' } } });
    expect([begun, store.entries.size]).toEqual([[], 0]);
    expect(await send('"order 1"')).toMatchObject({ status: 201 });
  });

  it('of equal lines is the same batch, also without an id, and leaves no second copy; other lines are refused', async () => {
    const { store, begun, send } = bed();
    const first = await send('"order 1"', 'agent=talks');
    expect(first.body.id).toMatch(/^batch-[0-9a-f]{12}$/);
    expect(await send('"order 1"\n', 'agent=talks')).toMatchObject({ status: 200, body: { id: first.body.id, isNew: false } });
    expect([begun.length, store.entries.size]).toEqual([1, 1]);
    await send('"order 1"');
    expect(await send('"order 2"')).toMatchObject({ status: 409, body: { error: { code: 'batch-in-use' } } });
  });

  it.each([
    ['an agent that is not there', '"x"', 'agent=nobody', 'application/jsonl', 'agent-unknown'],
    ['no line', '\n\n', 'agent=talks', 'application/jsonl', 'batch-invalid'],
    ['another type', '"x"', 'agent=talks', 'text/plain', 'request-invalid'],
    ['too many at once', '"x"', 'agent=talks&concurrency=101', 'application/jsonl', 'request-invalid'],
    ['an id that leaves no room', '"x"', `agent=talks&id=${'x'.repeat(191)}`, 'application/jsonl', 'run-id-invalid'],
  ])('with %s is refused', async (_, lines, query, type, code) => {
    const { begun, send } = bed();
    expect((await send(lines, query, type)).body.error?.code).toBe(code);
    expect(begun).toEqual([]);
  });
});
