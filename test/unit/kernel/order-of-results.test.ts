import { textOf } from '../../../contract/messages/messages';
import { loop, sequential } from '../../../kernel/define/define';
import { testRun } from '../../../testing/index';
import { tools } from '../../support/memory-bed';
import { member, scripts } from '../../support/team-bed';

const slowFirst = {
  name: 'slow-first',
  async wrapToolCall(call: { readonly id: string }, _: unknown, ctx: { sleep(duration: string): Promise<void> }): Promise<string> {
    if (call.id === 'one') await ctx.sleep('1s');
    return `The result of ${call.id}.`;
  },
};
const ada = member('ada', { tools: ['echo'], middleware: [slowFirst] });
const both = { toolCalls: ['one', 'two'].map((id) => ({ id, name: 'echo', input: { text: id } })) };

describe('[check parity] results of parallel calls', () => {
  it('are heard by the next agent in the order of the calls, whichever ended first', async () => {
    const model = scripts({ ada: [both, { text: 'Found.' }], ben: [{ text: 'Good.' }] });
    const run = await testRun(sequential({ name: 'line', agents: [ada, member('ben')] }), { input: 'Go.', model, tools });
    await run.outcome();
    await run.advance('1s');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    const heard = model.requests('ben')[0]?.messages.map(textOf) ?? [];
    expect(heard.filter((text) => text.includes('result of')).map((text) => /result of (\w+)/.exec(text)?.[1])).toEqual(['one', 'two']);
  });

  it('stand by their calls in the next turn of the agent itself, also behind a continue-as-new', async () => {
    const model = scripts({ ada: [both, { text: 'Found.' }, { text: 'Again.' }] });
    const run = await testRun(loop({ name: 'round', agents: [ada], maxIterations: 2 }), { input: 'Go.', model, tools });
    await run.outcome();
    const going = run.goOnAsNew();
    await run.advance('1s');
    await going;
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    const results = model
      .requests('ada')
      .at(-1)
      ?.messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool-result'));
    expect(results?.map((part) => (part as { callId: string }).callId)).toEqual(['one', 'two']);
  });
});
