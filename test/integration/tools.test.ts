import { z } from 'zod';
import { defineTool } from '../../activities/tools/define-tool';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/language-model';
import type { Run } from '../../client/runs/run';
import type { StartOptions } from '../../client/runs/start-input';
import type { Delta } from '../../contract/deltas';
import type { RunEvent } from '../../contract/events';
import type { Json, Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { allOf } from '../support/all-of';
import { gate } from '../support/gate';
import { replaysOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { calls, text } from '../support/test-bed';

type Calls = readonly { readonly name: string; readonly input: Json }[];

function answer({ messages }: Pick<GenerateRequest, 'messages'>): GenerateAnswer {
  const turns = JSON.parse(textOf(messages[0] as Message)) as readonly Calls[];
  const wanted = turns[messages.filter(({ role }) => role === 'assistant').length];
  return wanted === undefined ? text('Done.') : calls(...wanted);
}

const picture = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const second = gate();
const worked: string[] = [];

const tools = {
  add: defineTool({
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
    execute: ({ a, b }, call) => ({ sum: a + b, key: call.idempotencyKey }),
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

const bed = sharedBed({ tools });
const model = bed.scripted(answer);

describe('tools on a real server', () => {
  const start = (agent: string, turns: readonly Calls[], options: StartOptions = {}): Promise<Run> =>
    model.start(agent, JSON.stringify(turns), options);
  const results = async (run: Run): Promise<readonly unknown[]> =>
    (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));

  it('run several at once, beside others, under wraps, with a continue-as-new in between', async () => {
    const turn: Calls = [
      { name: 'add', input: { a: 1 } },
      { name: 'paint', input: {} },
      { name: 'work', input: { on: 'it' } },
      { name: 'add', input: { a: 2 } },
      { name: 'quickAsk', input: {} },
    ];
    const run = await start('watched', [turn, turn.slice(0, 2)]);
    while ((await run.interrupts()).length < 2) await run.outcome();
    const interrupts = await run.interrupts();
    await bed.temporal.goOnAsNew(run.id);
    for (const { id, kind } of interrupts) await run.resume(id, kind === 'approval' ? { type: 'approve' } : 'certainly');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    const [sum, painted, work, other, asked] = await results(run);
    expect([sum, other]).toMatchObject([{ sum: 2 }, { sum: 3 }]);
    expect([painted, work, asked]).toEqual([[{ type: 'text', text: 'A cat.' }, picture], 'worked on it', 'certainly']);
    expect(worked).toEqual(['it']);
    // The order of settling promises must not change the history.
    expect(await replaysOf([run.id])).toEqual([]);
  });

  it('show what they stream, and their progress, while they run', async () => {
    const run = await start('works', [[{ name: 'count', input: { to: 3 } }]]);
    const seen: (RunEvent | Delta)[] = [];
    for await (const event of run.events()) {
      seen.push(event);
      // A first piece seen only at the end would block the second piece for ever.
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

  it('that stream end under their own name and address when an alias calls them, and nothing that readers saw is taken back', async () => {
    const options = { toolAliases: { echo: { names: ['say'], arguments: { text: ['words'] } } } };
    const run = await start('talks', [[{ name: 'say', input: { words: 'one two' } }]], { options });
    const ofTool = (await allOf(run.events())).flatMap((event) => {
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
});
