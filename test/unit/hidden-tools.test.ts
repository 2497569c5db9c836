import { defineAgent } from '../../kernel/define/agent';
import { scriptedModel, testRun } from '../../testing/index';
import { fixtureTools } from '../fixtures/tools';

describe('tools that hooks take away', () => {
  const call = { toolCalls: [{ name: 'echo', input: { text: 'hello' } }] };

  it('cannot be called by their name when beforeAgent took them away', async () => {
    const agent = defineAgent({
      name: 'agent',
      description: '',
      instructions: '',
      model: 'test',
      tools: ['echo', 'lookupOrder'],
      middleware: [{ name: 'rights', beforeAgent: (setup) => ({ tools: setup.tools.filter((tool) => tool !== 'echo') }) }],
    });
    const run = await testRun(agent, { input: 'Say hello', model: scriptedModel([call, { text: 'No.' }]), tools: fixtureTools });
    await run.outcome();
    const result = (await run.transcript()).flatMap(({ parts }) => parts).find((part) => part.type === 'tool-result');
    expect(result).toMatchObject({
      isError: true,
      output: "The model called tool 'echo', which this agent does not have. It has: lookupOrder.",
    });
  });

  it('can be called while a state hook only hides them from the model', async () => {
    const agent = defineAgent({
      name: 'agent',
      description: '',
      instructions: '',
      model: 'test',
      tools: ['echo', 'lookupOrder'],
      middleware: [{ name: 'hide', beforeModelRewriteState: () => ({ tools: ['lookupOrder'] }) }],
    });
    const run = await testRun(agent, { input: 'Say hello', model: scriptedModel([call, { text: 'Done.' }]), tools: fixtureTools });
    await run.outcome();
    const result = (await run.transcript()).flatMap(({ parts }) => parts).find((part) => part.type === 'tool-result');
    expect(result).toMatchObject({ output: 'hello' });
  });
});
