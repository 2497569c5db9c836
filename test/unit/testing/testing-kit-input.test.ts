import { replayHistories, scriptedModel, testRun } from 'holdfast/testing';
import { approval } from 'holdfast/middleware';
import { agentWith, echo, tools } from '../../support/memory-bed';
import { failure, errorOf } from '../../support/failures';

const invalid = (message: unknown): Error => expect.objectContaining({ code: 'request-invalid', message }) as Error;

describe('a step of scriptedModel that is none', () => {
  it.each<[string, unknown, string]>([
    ['a misspelt field', { tex: 'x' }, 'step 2 is neither text, toolCalls nor error: {"tex":"x"}'],
    ['nothing in it', {}, 'step 2 is neither text, toolCalls nor error: {}'],
    ['null', null, 'step 2 is neither text, toolCalls nor error: null'],
    ['a text of its own', 'Done.', 'step 2 is neither text, toolCalls nor error: Done.'],
    ['no calls and no text', { toolCalls: [] }, 'step 2 is neither text, toolCalls nor error'],
    ['a number for a text', { text: 5 }, 'step 2 has a text that is none'],
    ['a call without a name', { toolCalls: [{ input: {} }] }, 'step 2 has toolCalls that are no list of { name, input }'],
    ['a call without an input', { toolCalls: [{ name: 'echo' }] }, 'step 2 has toolCalls that are no list'],
    ['one call instead of a list', { toolCalls: echo('a') }, 'step 2 has toolCalls that are no list'],
    ['an error that is no text', { error: new Error('down') }, 'step 2 has an error that is no text'],
  ])('is refused by its position when the script is made: %s', (_, step, message) => {
    expect(() => scriptedModel([{ text: 'First.' }, step as never])).toThrow(invalid(expect.stringContaining(message)));
  });

  it('fails the run by its position when a function gives it', async () => {
    const run = await testRun(agentWith(), { input: 'Hi', model: scriptedModel([() => ({ tex: 'x' }) as never]), tools });
    expect(await run.outcome()).toMatchObject(failure('model-failed', /step 1 is neither text, toolCalls nor error/));
  });

  it('is also a script that is neither a list nor lists by the names of models', () => {
    const takes = 'scriptedModel takes a list of steps, or an object with such lists by the names of models';
    expect(() => scriptedModel({ text: 'Done.' } as never)).toThrow(invalid(`${takes}; "text" has none.`));
    expect(() => scriptedModel({})).toThrow(invalid(`${takes}.`));
    expect(() => scriptedModel(undefined as never)).toThrow(invalid(`${takes}.`));
    expect(() => scriptedModel({ 'test/writer': [{ text: 'Done.' }, {} as never] })).toThrow(
      invalid(expect.stringContaining('scriptedModel "test/writer": step 2 is neither text, toolCalls nor error')),
    );
  });
});

it.each([undefined, null, {}, { agents: 'agents.ts' }, { histories: 'histories' }, { agents: 5, histories: 'x' }])(
  'replayHistories says what it takes when it is called with %j',
  async (options) => {
    await expect(replayHistories(options as never)).rejects.toMatchObject(
      errorOf('request-invalid', /takes agents, the path of the agents module, and histories/),
    );
  },
);

it.each(['', ' ', 'x'.repeat(300)])('an answer of the person %j is refused, as by the client', async (by) => {
  const script = scriptedModel([{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
  const run = await testRun(agentWith({ middleware: [approval({ tools: { echo: true } })] }), { input: 'Hi', model: script, tools });
  const [asked] = await run.interrupts();
  await expect(run.approve(asked?.id ?? '', { by })).rejects.toMatchObject({ code: 'request-invalid' });
  await run.approve(asked?.id ?? '', { by: 'ada' });
  expect(await run.result()).toBe('Done.');
});
