import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware, Message } from 'holdfast/workflow';
import { defineAgent, traitsOf, withTraits } from 'holdfast/workflow';
import { agentUnder, echo, fails, logOf, tools, transcriptOf } from '../../support/memory-bed';

const oneCall = () => scriptedModel([{ toolCalls: [echo('secret')] }, { text: 'Done.' }]);
const agentWith = (...middleware: readonly AgentMiddleware[]) =>
  defineAgent({ name: 'a', description: '', instructions: '', model: 'test/m', tools: ['echo'], middleware });
const without = (message: Message, word: string): Message => ({
  ...message,
  parts: message.parts.map((part) =>
    part.type === 'tool-result' ? { ...part, output: String(part.output).replaceAll(word, '***') } : part,
  ),
});

describe('traits of a middleware of your own', () => {
  it('stay when the middleware is copied, and add to those that it has', () => {
    const layer = withTraits(withTraits({ name: 'mine' }, { offersTools: [] }), { namesTools: ['echo'] });
    expect(traitsOf({ ...layer, name: 'copy' })).toEqual({ offersTools: [], namesTools: ['echo'] });
    expect(traitsOf({ name: 'other' })).toEqual({});
  });

  it('are known to a second copy of the package', () => {
    const layer = withTraits({ name: 'mine' }, { facts: { level: 2 } });
    jest.isolateModules(() => {
      const second = jest.requireActual<{ traitsOf: typeof traitsOf }>('../../../kernel/define/traits');
      expect(second.traitsOf).not.toBe(traitsOf);
      expect(second.traitsOf(layer)).toEqual({ facts: { level: 2 } });
    });
  });

  it.each([
    [{ ofersTools: [] }, 'withTraits: there is no option "ofersTools"; did you mean offersTools?'],
    [{ namesTools: 'echo' }, 'withTraits: namesTools must be an array of tool names. It is "echo".'],
    [{ showsHere: 'agent' }, 'withTraits: showsHere must be "model" or "tool". It is "agent".'],
    [{ problemIn: 'none' }, 'withTraits: problemIn must be a function. It is "none".'],
  ])('are refused when they are none: %j', (traits, message) => {
    expect(() => withTraits({ name: 'mine' }, traits as never)).toThrow(message);
  });

  it('refuse a tool that the agent does not have, where it is named', () => {
    const offering: AgentMiddleware = withTraits({ name: 'mine', beforeAgent: () => undefined }, { offersTools: [], namesTools: ['ecko'] });
    expect(() => agentWith(offering)).toThrow(
      'the middleware "mine" names the tool "ecko", which this agent does not have. Did you mean "echo"?',
    );
  });

  it('refuse the agent in which the middleware does not work', () => {
    const strict: AgentMiddleware = withTraits(
      { name: 'strict' },
      { problemIn: ({ model }) => (model === 'test/m' ? 'it needs a large model' : undefined) },
    );
    expect(() => agentWith(strict)).toThrow('the middleware "strict": it needs a large model');
  });

  it('give a second one of its name a number, or refuse it with the reason', async () => {
    const seen: string[] = [];
    const several = (): AgentMiddleware =>
      withTraits({ name: 'several', beforeAgent: (_, ctx) => void seen.push(ctx.agent) }, { isNumbered: true });
    const once = (): AgentMiddleware => withTraits({ name: 'once' }, { onlyOne: 'One is enough.' });
    const run = await testRun(agentUnder(several(), several()), { input: 'Hi', model: scriptedModel([{ text: 'Done.' }]), tools });
    expect((await run.outcome()).status).toBe('completed');
    expect(seen).toHaveLength(2);
    expect(() => agentWith(once(), once())).toThrow('the middleware "once" stands in the list twice. One is enough.');
  });

  it('change what a tool call ends with, also where an inner layer answers', async () => {
    const hiding: AgentMiddleware = withTraits({ name: 'hiding' }, { changesToolEnd: (message) => without(message, 'secret') });
    const answering: AgentMiddleware = { name: 'answering', wrapToolCall: async () => 'my secret' };
    const run = await testRun(agentUnder(hiding, answering), { input: 'Hi', model: oneCall(), tools });
    await run.outcome();
    expect((await transcriptOf(run)).join('\n')).toContain('my ***');
    expect(JSON.stringify((await logOf(run)).filter(({ type }) => type === 'tool-end'))).not.toContain('secret');
  });

  it.each([
    ['returns no message', () => 'hidden' as never, 'must return a message of the role tool, as JSON'],
    ['throws', fails('out of order'), 'out of order'],
  ])('fail the run by name where changesToolEnd %s', async (_, changesToolEnd, message) => {
    const layer: AgentMiddleware = withTraits({ name: 'hiding' }, { changesToolEnd });
    const run = await testRun(agentUnder(layer), { input: 'Hi', model: oneCall(), tools });
    const outcome = await run.outcome();
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'hook-failed', message: expect.stringContaining('"hiding"') } });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining(message) } });
  });
});
