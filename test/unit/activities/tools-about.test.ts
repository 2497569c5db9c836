import { z } from 'zod';
import { defineTool } from '../../../activities/tools/tools';
import type { ToolCallContext } from '../../../activities/tools/define-tool';
import { scriptedModel } from '../../../testing/scripted-model';
import { testRun } from '../../../testing/test-run';
import { StartStore } from '../../../activities/transcripts/start-store';
import type { HistoryFact } from '../../../contract/record/history-fact';
import { agentWith, echo, tools } from '../../support/memory-bed';

type Seen = Pick<ToolCallContext, 'values' | 'tags' | 'principal'>;

function watching() {
  const seen: Seen[] = [];
  const tool = defineTool({
    description: 'Says it again.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }, { values, tags, principal }: ToolCallContext<{ customer?: string }>) => {
      seen.push({ values: { ...values }, tags, principal });
      return `${text} ${values.customer ?? 'nobody'}`;
    },
  });
  return { seen, tools: { ...tools, echo: tool } };
}

const model = () => scriptedModel([{ toolCalls: [echo('x')] }, { text: 'Done.' }]);

it('a tool knows for whom its run works: the values and tags of the start, and who started it', async () => {
  const { seen, tools: watched } = watching();
  const author = { tenant: 'acme', by: 'ada', roles: ['clerk'], proof: 'key:k1' };
  const options = { input: 'Hi', model: model(), tools: watched, values: { customer: 'ada' }, tags: ['night'], ...author };
  expect((await (await testRun(agentWith(), options)).outcome()).status).toBe('completed');
  const principal = { tenant: 'acme', user: 'ada', roles: ['clerk'], proof: 'key:k1' };
  expect(seen).toEqual([{ values: { customer: 'ada' }, tags: ['night'], principal }]);
});

it('a tool of a run that was started with none of them gets none', async () => {
  const { seen, tools: watched } = watching();
  await (await testRun(agentWith(), { input: 'Hi', model: model(), tools: watched })).outcome();
  expect(seen).toEqual([{ values: {}, tags: [], principal: { tenant: 'default' } }]);
});

it('a tool cannot change what other calls are told', async () => {
  const changing = defineTool({
    description: 'Says it again.',
    inputSchema: z.object({ text: z.string() }),
    execute: (_, { values }) => {
      (values as Record<string, unknown>)['customer'] = 'bob';
      return 'changed';
    },
  });
  const run = await testRun(agentWith(), { input: 'Hi', model: model(), tools: { ...tools, echo: changing }, values: { customer: 'ada' } });
  await run.outcome();
  expect(JSON.stringify((await run.view()).messages)).toMatch(/read only property 'customer'/);
});

describe('what a worker keeps of the starts of runs', () => {
  const start = { values: { a: 'x'.repeat(1000) }, tags: ['t'], by: 'ada', roles: ['clerk'], proof: 'key:k1' };
  const facts = [{ kind: 'start', time: 0, workflowId: 'w', input: { start } }] as unknown as readonly HistoryFact[];
  const storeOf = (maxBytes: number) => {
    let read = 0;
    const history = {
      async *oldest() {
        read += 1;
        yield facts;
      },
      async *newest() {},
    };
    return { store: new StartStore(history, maxBytes), read: () => read };
  };

  it('is read once for each run, however many calls ask at a time', async () => {
    const { store, read } = storeOf(100_000);
    expect(await Promise.all([store.of('w', 'r'), store.of('w', 'r')])).toEqual([start, start]);
    await store.of('w', 'r');
    expect(read()).toBe(1);
  });

  it('is bounded, and read again when it is gone', async () => {
    const { store, read } = storeOf(2600);
    for (const run of ['a', 'b', 'c', 'a', 'c']) expect(await store.of('w', run)).toEqual(start);
    expect(read()).toBe(4);
  });
});
