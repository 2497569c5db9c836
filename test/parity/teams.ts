import type { Json } from '../../workflows/index';
import { agentTool, agentsFor, customAgent, loop, parallel, sequential, supervisor, textOf } from '../../workflows/index';
import { approval } from '../../middleware/index';
import { setSubAgents } from '../../middleware/forms/index';
import { toolAliases as allAliases } from './agent-names';
import { branchOnUsage, racing, wordOf } from './racing';

const { defineAgent } = agentsFor();

const tools = ['act', 'quick', 'flaky', 'note', 'ask', 'pieces', 'answer'];
const toolAliases = Object.fromEntries(Object.entries(allAliases).filter(([tool]) => tools.includes(tool)));
const risky = { when: (input: unknown) => wordOf({ input: input as Json }).startsWith('risky') };

const member = <const Name extends string>(name: Name, more: readonly ReturnType<typeof agentTool>[] = []) =>
  defineAgent({
    name,
    description: `${name} is under test.`,
    instructions: `Be ${name}.`,
    model: 'test/model',
    tools: [...tools, ...more],
    toolAliases,
    returnDirectly: ['answer'],
    maxIterations: 5,
    middleware: [racing, approval({ tools: { act: risky, quick: risky, pieces: risky } })],
  });

const ada = member('ada');
const ben = member('ben');
const desk = setSubAgents(member('desk'), [member('bills'), member('travel')]);

export const abreast = parallel({ name: 'abreast', agents: [ada, ben] });
export const apart = parallel({ name: 'apart', description: 'Both at once.', agents: [ada, ben], isolate: true });
export const stages = sequential({ name: 'stages', agents: [ada, parallel({ name: 'both', agents: [ben, member('cleo')] })] });
export const deep = parallel({
  name: 'deep',
  isolate: true,
  agents: [desk, sequential({ name: 'line', agents: [ada, parallel({ name: 'inner', agents: [ben], isolate: true })] })],
});
export const boss = member('boss', [
  agentTool(ada, { forwardEvents: true }),
  agentTool(ben),
  agentTool(apart, { isolate: true }),
  agentTool(desk, { isolate: true }),
]);
export const frontDesk = setSubAgents(member('frontDesk'), [member('bills'), member('clerk', [agentTool(ada, { isolate: true })])]);
export const office = supervisor({ name: 'office', supervisor: member('head'), agents: [ada, member('clerk', [agentTool(ben)])] });
export const rounds = loop({ name: 'rounds', agents: [ada, ben], maxIterations: 2 });
export const made = customAgent({
  name: 'made',
  agents: [ada, ben],
  async *run({ messages }, ctx) {
    const wanted = messages.map(textOf).join(' ');
    await branchOnUsage(ctx);
    // Waits for both agents, because the server decides how far the second gets after a failure.
    const both = await Promise.allSettled([ctx.runAgent('ada', wanted), ctx.runAgent('ben', wanted)]);
    const [first, second] = both.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
    yield { name: 'both', output: [first?.text ?? '', second?.text ?? ''] };
    await branchOnUsage(ctx);
    const wish = await Promise.race([ctx.interrupt<Json>({ wish: true }), ctx.sleep('30d').then(() => 'none')]);
    yield { message: { role: 'assistant', parts: [{ type: 'text', text: `They wish ${JSON.stringify(wish)}.` }] } };
    const third = await ctx.runAgent('ada');
    return third.text;
  },
});
