import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/models';
import type { Run } from '../../client/run';
import type { StartOptions } from '../../client/start-input';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Json, Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { replayHistories } from '../../testing/index';
import { recordHistory } from '../../client/record-history';
import { gate } from '../support/gate';
import { sharedBed } from '../support/shared-bed';
import { calls, fixtureAgents, fixtureBundle, startTestBed, testServer, text } from '../support/test-bed';

type Calls = readonly { readonly name: string; readonly input: Json }[];

/** The first message has the calls of each turn; after them comes a text, or what `says` has. */
function answer({ messages }: Pick<GenerateRequest, 'messages'>): GenerateAnswer {
  const { turns, says = [] } = JSON.parse(textOf(messages[0] as Message)) as { turns: readonly Calls[]; says?: readonly string[] };
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const wanted = turns[turn];
  return wanted === undefined ? text(says[turn - turns.length] ?? 'Done.') : calls(...wanted);
}

const picture = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const second = gate();
let flakes = 0;
const worked: string[] = [];

const tools = {
  add: defineTool({
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
    execute: ({ a, b }, call) => ({ sum: a + b, key: call.idempotencyKey }),
  }),
  flaky: defineTool({
    description: 'Fails once.',
    inputSchema: z.object({}),
    retry: { attempts: 3 },
    execute: () => {
      flakes += 1;
      if (flakes === 1) throw new Error('not yet');
      return flakes;
    },
  }),
  slow: defineTool({
    description: 'Takes too long.',
    inputSchema: z.object({}),
    timeout: '100ms',
    execute: () => new Promise<string>(() => undefined),
  }),
  count: defineTool({
    description: 'Counts.',
    inputSchema: z.object({ to: z.number() }),
    async *stream({ to }, call) {
      for (let n = 1; n <= to; n++) {
        if (n === 2) await second.pass();
        call.progress({ n });
        yield `${n} `;
      }
    },
  }),
  paint: defineTool({
    description: 'Paints.',
    inputSchema: z.object({}),
    enhanced: true,
    execute: () => [{ type: 'text', text: 'A cat.' } as const, picture],
  }),
  paintSlowly: defineTool({
    description: 'Paints in pieces.',
    inputSchema: z.object({}),
    enhanced: true,
    async *stream() {
      yield { type: 'text', text: 'A ' } as const;
      yield { type: 'text', text: 'dog.' } as const;
      yield picture;
    },
  }),
  askInPieces: defineTool({
    description: 'Asks in the middle.',
    inputSchema: z.object({}),
    async *stream(_input, call) {
      yield 'So: ';
      if (call.resumed === undefined) call.interrupt('How much?', { state: { said: 1 } });
      yield `${String(call.resumed?.answer)} of ${JSON.stringify(call.resumed?.state)}`;
    },
  }),
  quickAsk: defineTool({
    description: 'Asks at once.',
    inputSchema: z.object({}),
    execute: (_input, call): string => (call.resumed === undefined ? call.interrupt('Yes?') : String(call.resumed.answer)),
  }),
  echo: defineTool({
    description: 'Says it again, word for word.',
    inputSchema: z.object({ text: z.string() }),
    async *stream({ text: said }) {
      for (const word of said.split(/(?<= )/)) yield word;
    },
  }),
  work: defineTool({
    description: 'Works.',
    inputSchema: z.object({ on: z.string() }),
    effect: 'once',
    execute: ({ on }) => {
      worked.push(on);
      return `worked on ${on}`;
    },
  }),
};

const outputs = { verdict: z.object({ guilty: z.boolean(), years: z.number().default(0) }) };
const bed = sharedBed({ tools, outputs });
const model = bed.scripted(answer);

describe('tools on a real server', () => {
  const start = (agent: string, turns: readonly Calls[], options: StartOptions = {}): Promise<Run> =>
    model.start(agent, JSON.stringify({ turns }), options);
  const results = async (run: Run): Promise<readonly unknown[]> =>
    (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));
  const eventsOf = async (run: Run): Promise<readonly (RunEvent | Delta)[]> => {
    const events = [];
    for await (const event of run.events()) events.push(event);
    return events;
  };
  const done = { status: 'completed', text: 'Done.' };
  const end = (run: Run): ReturnType<Run['outcome']> => run.outcome();

  /** The history replays: nothing in it depends on the order in which promises happened to settle. */
  const expectReplays = async (run: Run): Promise<void> => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-recorded-'));
    await recordHistory({ id: run.id, server: testServer(), file: join(directory, 'run.json') });
    const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories: directory });
    expect(replayed.length).toBeGreaterThan(0);
    expect(replayed.filter(({ error }) => error !== undefined)).toEqual([]);
  };

  it('run several at once, beside others, under wraps, with a continue-as-new in between', async () => {
    const turn: Calls = [
      { name: 'add', input: { a: 1 } },
      { name: 'paint', input: {} },
      { name: 'work', input: { on: 'it' } },
      { name: 'add', input: { a: 2 } },
      { name: 'quickAsk', input: {} },
    ];
    const run = await start('watched', [turn, turn.slice(0, 2)]);
    while ((await run.interrupts()).length < 2) await end(run);
    const interrupts = await run.interrupts();
    const first = await bed.temporal.executionOf(run.id);
    await bed.temporal.handle(run.id).signal('continue-as-new');
    await bed.temporal.untilAnotherExecution(run.id, first);
    for (const { id, kind } of interrupts) await run.resume(id, kind === 'approval' ? { type: 'approve' } : 'certainly');
    expect(await end(run)).toMatchObject(done);
    const [sum, painted, work, other, asked] = await results(run);
    expect([sum, other]).toMatchObject([{ sum: 2 }, { sum: 3 }]);
    expect([painted, work, asked]).toEqual([[{ type: 'text', text: 'A cat.' }, picture], 'worked on it', 'certainly']);
    expect(worked).toEqual(['it']);
    await expectReplays(run);
  });

  it('show what they stream, and their progress, while they run', async () => {
    const run = await start('works', [[{ name: 'count', input: { to: 3 } }]]);
    const seen: (RunEvent | Delta)[] = [];
    for await (const event of run.events()) {
      seen.push(event);
      // Were the first piece seen only at the end, the second would never come.
      if (event.type === 'tool-output-delta') second.open();
    }
    const types = seen.map(({ type }) => type);
    expect(types.slice(types.indexOf('tool-start'), types.indexOf('tool-end'))).toEqual(
      expect.arrayContaining(['tool-start', 'attempt-start', 'tool-progress', 'tool-output-delta']),
    );
    expect(seen.flatMap((event) => (event.type === 'tool-output-delta' ? [event.text] : [])).join('')).toBe('1 2 3 ');
    expect(seen.flatMap((event) => (event.type === 'tool-progress' ? [event.data] : []))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(types).not.toContain('message-replaced');
    expect(await results(run)).toEqual(['1 2 3 ']);
  });

  it('hold back what a layer changes', async () => {
    second.open();
    const run = await start('hushed', [[{ name: 'count', input: { to: 2 } }]]);
    const events = await eventsOf(run);
    expect(events.filter(({ type }) => type === 'tool-output-delta')).toEqual([]);
    expect(await results(run)).toEqual(['hidden: 1 2 ']);
  });

  it('that stream end under their own name and address when an alias calls them, and nothing that readers saw is taken back', async () => {
    const options = { toolAliases: { echo: { names: ['say'], arguments: { text: ['words'] } } } };
    const run = await start('talks', [[{ name: 'say', input: { words: 'one two' } }]], { options });
    const ofTool = (await eventsOf(run)).flatMap((event) => {
      if (event.type === 'tool-start' || event.type === 'tool-end') return [`${event.type} ${event.tool} ${event.address ?? ''}`];
      if (event.type === 'tool-output-delta') return [`delta ${event.text ?? ''}`];
      return ['attempt-void', 'message-replaced'].includes(event.type) ? [event.type] : [];
    });
    expect(ofTool[0]).toBe('tool-start echo talks/t1/echo.0');
    expect(ofTool.at(-1)).toBe('tool-end echo talks/t1/echo.0');
    expect(ofTool.slice(1, -1).join('').replaceAll('delta ', '')).toBe('one two');
    const [, , answered] = await run.transcript();
    expect(answered?.parts).toMatchObject([{ type: 'tool-result', name: 'say', output: 'one two' }]);
  });

  it('give texts and files, whole and in pieces', async () => {
    const run = await start('works', [
      [
        { name: 'paint', input: {} },
        { name: 'paintSlowly', input: {} },
      ],
    ]);
    const events = await eventsOf(run);
    expect(await results(run)).toEqual([
      [{ type: 'text', text: 'A cat.' }, picture],
      [{ type: 'text', text: 'A dog.' }, picture],
    ]);
    expect((await run.transcript())[2]?.parts[0]).toMatchObject({ multipart: true });
    expect(events.flatMap((event) => (event.type === 'tool-output-delta' ? [event.part?.type] : []))).toEqual(['text', 'text', 'file']);
    expect(events.map(({ type }) => type)).not.toContain('message-replaced');
  });

  it('ask in the middle of a stream, and what was seen of it is void', async () => {
    const run = await start('works', [[{ name: 'askInPieces', input: {} }]]);
    const waiting = await end(run);
    if (waiting.status !== 'waiting') throw new Error(JSON.stringify(waiting));
    const lines = eventsOf(run);
    await run.resume(waiting.interrupts[0]?.id ?? '', 3);
    expect(await results(run).then(() => end(run))).toMatchObject(done);
    expect(await results(run)).toEqual(['So: 3 of {"said":1}']);
    expect((await lines).at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
  });
});

describe('answers with a schema on a real server', () => {
  const start = (...says: readonly string[]): Promise<Run> => model.start('typed', JSON.stringify({ turns: [], says }));

  it('are read by it', async () => {
    const run = await start('Here: ```json\n{"guilty": true}\n```');
    expect(await run.result()).toEqual({ guilty: true, years: 0 });
    expect(await run.view()).toMatchObject({ output: { guilty: true, years: 0 }, text: expect.stringContaining('Here:') });
  });

  it('go back to the model twice when they do not fit', async () => {
    const run = await start('Guilty!', '{"guilty":"yes"}', '{"guilty":false,"years":2}');
    expect(await run.result()).toEqual({ guilty: false, years: 2 });
    expect((await run.transcript()).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  });

  it('end the run when they never fit', async () => {
    const run = await start('Guilty!', 'Guilty!', 'Guilty!', '{"guilty":true}');
    expect(await run.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'output-invalid', message: expect.stringContaining('"verdict"') },
    });
  });

  it('are refused at the start when the worker does not have the schema', async () => {
    const other = await startTestBed(answer, { tools });
    const run = await other.client.start('typed', JSON.stringify({ turns: [] }));
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'output-unknown' } });
    await other.close();
  });
});
