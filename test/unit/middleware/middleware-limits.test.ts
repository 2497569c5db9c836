import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import type { ModelCallLimitOptions, ToolCallLimitOptions } from 'holdfast/middleware';
import { modelCallLimit, modelRetry, toolCallLimit } from 'holdfast/middleware';
import { sequential, supervisor } from 'holdfast/workflow';
import { agentUnder, agentWith, echo, tools, transcriptOf, withHook } from '../../support/memory-bed';
import { member, play, transfer } from '../../support/team-bed';
import { failure } from '../../support/failures';

const calls = (...texts: readonly string[]): ScriptedStep => ({ toolCalls: texts.map(echo) });

async function runWith(middleware: readonly AgentMiddleware[], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const run = await testRun(agentUnder(...middleware), { input: 'Hi', model, tools });
  return { model, run, outcome: await run.outcome() };
}

describe('modelCallLimit', () => {
  it('ends the agent with a message at the limit', async () => {
    const { outcome, model } = await runWith([modelCallLimit({ perRun: 2 })], calls('a'), calls('b'), { text: 'Never.' });
    expect(outcome).toMatchObject({
      status: 'completed',
      text: 'The model was called 2 times in this run, as often as "modelCallLimit" allows.',
    });
    expect(model.requests).toHaveLength(2);
  });

  it('fails the run when it is to', async () => {
    const { outcome } = await runWith([modelCallLimit({ perAgent: 1, exceeded: 'fail' })], calls('a'));
    expect(outcome).toMatchObject(
      failure('call-limit', 'The model was called once by the agent "agent" in this run, as often as "modelCallLimit" allows.'),
    );
  });

  it('counts retries, and is not retried itself', async () => {
    const { outcome, model, run } = await runWith(
      [modelCallLimit({ perRun: 2, exceeded: 'fail' }), modelRetry({ attempts: 5, backoff: { first: '1s' } })],
      { error: 'down', retryable: true },
      { error: 'down', retryable: true },
    );
    expect(outcome.status).toBe('running');
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'call-limit' } });
    expect(model.requests).toHaveLength(2);
  });

  it('counts on behind a continue-as-new', async () => {
    const model = scriptedModel([calls('a'), { toolCalls: [{ name: 'fail', input: {} }] }, { text: 'Never.' }]);
    const pauses = withHook('pauses', 'wrapToolCall', async (call, next, ctx) => {
      if (call.name === 'fail') await ctx.interrupt({ question: 'On?' });
      return next(call);
    });
    const run = await testRun(agentWith({ middleware: [pauses, modelCallLimit({ perRun: 2 })] }), { input: 'Hi', model, tools });
    const [interrupt] = await run.interrupts();
    await run.goOnAsNew();
    await run.resume(interrupt?.id ?? '', true);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: expect.stringContaining('2 times in this run') });
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', {}, /modelCallLimit: give it perRun or perAgent/],
    ['a limit of none', { perRun: 0 }, /perRun must be a whole number of at least 1\. It is 0\./],
    ['an unknown ending', { perRun: 1, exceeded: 'stop' }, /exceeded must be "end" or "fail"\. It is "stop"\./],
    ['a misspelt field', { perrun: 1 }, /there is no option "perrun"; did you mean perRun\?/],
    ['no object', 3, /the options must be an object with name, perRun, perAgent, exceeded, message, not 3\./],
  ])('refuses %s', (_, options, message) => {
    expect(() => modelCallLimit(options as ModelCallLimitOptions)).toThrow(message);
  });
});

it('modelCallLimit counts over all agents of a run, and of each one', async () => {
  const limited = (name: string) =>
    member(name, { tools: ['echo'], middleware: [modelCallLimit({ perRun: 3, perAgent: 2, message: 'Enough.' })] });
  const both = sequential({ name: 'both', agents: [limited('first'), limited('second')] });
  const { outcome, model } = await play(both, { first: [calls('a'), calls('b')], second: [calls('c')] });
  expect(outcome).toMatchObject({ status: 'completed', text: 'Enough.' });
  expect([model.requests('first').length, model.requests('second').length]).toEqual([2, 1]);
});

describe('toolCallLimit', () => {
  it('tells the model about calls that did not run', async () => {
    const { run, outcome } = await runWith([toolCallLimit({ tools: ['echo'], perRun: 2 })], calls('a', 'b', 'c'), { text: 'Done.' });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await transcriptOf(run)).slice(2, 5)).toEqual([
      'tool: a',
      'tool: b',
      `tool: The call of 'echo' did not run. 'echo' was called 2 times in this run, as often as "toolCallLimit.echo" allows.`,
    ]);
  });

  it('counts each of several limits by itself', async () => {
    const { run } = await runWith(
      [toolCallLimit({ tools: ['echo'], perRun: 1, message: 'No more echo.' }), toolCallLimit({ perAgent: 3, message: 'No more tools.' })],
      { toolCalls: [echo('a'), echo('b'), { name: 'add', input: { a: 1 } }, { name: 'add', input: { a: 2 } }] },
      { text: 'Done.' },
    );
    await run.outcome();
    expect((await transcriptOf(run)).slice(2, 6)).toEqual(['tool: a', 'tool: No more echo.', 'tool: {"sum":2}', 'tool: No more tools.']);
  });

  it('ends the agent behind the calls of the message when it is to', async () => {
    const { outcome, run, model } = await runWith(
      [toolCallLimit({ perRun: 1, exceeded: 'end', message: 'That was all.' })],
      calls('a', 'b'),
      { text: 'Never.' },
    );
    expect(outcome).toMatchObject({ status: 'completed', text: 'That was all.' });
    expect(model.requests).toHaveLength(1);
    expect((await transcriptOf(run)).at(-1)).toBe('assistant: That was all.');
  });

  it('fails the run when it is to', async () => {
    const { outcome } = await runWith([toolCallLimit({ perRun: 1, exceeded: 'fail' })], calls('a', 'b'));
    expect(outcome).toMatchObject(failure('call-limit', /'echo' did not run/));
  });

  it('does not count that an agent hands over', async () => {
    const boss = member('boss', { middleware: [toolCallLimit({ perRun: 1, exceeded: 'fail' })] });
    const { outcome } = await play(supervisor({ name: 'team', supervisor: boss, agents: [member('worker')] }), {
      boss: [transfer('worker'), transfer('worker'), { text: 'Done.' }],
      worker: [{ text: 'A.' }, { text: 'B.' }],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', {}, /toolCallLimit: give it perRun or perAgent/],
    ['no tools', { tools: [], perRun: 1 }, /tools must be an array of at least one name, each once\. It is \[\]\./],
    ['an unknown ending', { perRun: 1, exceeded: 'stop' }, /exceeded must be "continue", "end" or "fail"\. It is "stop"\./],
  ])('refuses %s', (_, options, message) => {
    expect(() => toolCallLimit(options as ToolCallLimitOptions)).toThrow(message);
  });
});
