import type { Agent } from 'holdfast/workflow';
import { agentTool, customAgent, loop, parallel, sequential, supervisor } from 'holdfast/workflow';
import { setSubAgents, withDeterministicTransfer } from 'holdfast/eino';
import { agentsOf } from '../../../kernel/define/agents-of-module';
import { limits } from '../../../contract/limits';
import { member, play } from '../../support/team-bed';
import { errorSaying } from '../../support/failures';

type Around = (inner: Agent, name: string) => Agent;
const described = { description: 'Around others.' };
const custom: Around = (inner, name) =>
  customAgent({
    name,
    ...described,
    agents: [inner],
    async *run(_, ctx) {
      yield { name: 'begun' };
      return (await ctx.runAgent(inner.name)).text;
    },
  });
const ways: readonly [string, Around][] = [
  ['one after another', (inner, name) => sequential({ name, ...described, agents: [inner] })],
  ['in loops', (inner, name) => loop({ name, ...described, agents: [inner], maxIterations: 2 })],
  ['at the same time', (inner, name) => parallel({ name, ...described, agents: [inner] }) as never],
  ['under supervisors', (inner, name) => supervisor({ name, ...described, supervisor: member(`${name}-lead`), agents: [inner] })],
  ['as sub-agents', (inner, name) => setSubAgents(member(name), [inner])],
  ['as sub-agents in options', (inner, name) => member(name, { subAgents: [inner] })],
  ['as tools', (inner, name) => member(name, { tools: [agentTool(inner)] })],
  ['made by hand', custom],
  ['that hand over', (inner) => withDeterministicTransfer(inner, { to: ['boss'] })],
];
const nested = (around: Around, depth: number): Agent => {
  let agent: Agent = member('leaf');
  for (let n = 0; n < depth; n++) agent = around(agent, `level${n}`);
  return agent;
};

describe('agents in each other', () => {
  it.each(ways)('are refused when they are too deep, however many there are: %s', (_, around) => {
    expect(() => nested(around, 6000)).toThrow(
      errorSaying('agent-invalid', /^Agent "\w+" has agents in each other, 10[1-3] deep; at most 100 fit\./),
    );
  });

  it('work as deep as they may be', async () => {
    for (const around of [ways[0], ways[2], ['', custom] as const].map((way) => way?.[1] as Around)) {
      const { outcome } = await play(nested(around, limits.agentDepth - 1), { leaf: [{ text: 'Deep.' }] });
      expect(outcome).toMatchObject({ status: 'completed' });
      expect(JSON.stringify(outcome)).toContain('Deep.');
    }
  });

  it('may stand in several places, which takes no longer', async () => {
    let row: readonly Agent[] = [member('a0'), member('b0')];
    for (let n = 1; n < 60; n++) row = ['a', 'b'].map((name) => member(`${name}${n}`, { subAgents: row }));
    const [root] = row as readonly [Agent];
    expect(agentsOf({ root }).size).toBe(1);
    const { outcome } = await play(root, { a59: [{ text: 'Here.' }] });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Here.' });
  });
});
