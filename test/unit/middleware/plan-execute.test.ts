import type { PlanExecuteOptions } from 'holdfast/workflow';
import { agentTool, planExecute } from 'holdfast/workflow';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { testRun } from 'holdfast/testing';
import { logOf, tools } from '../../support/memory-bed';
import { heard, member, play, scripts } from '../../support/team-bed';
import { failure } from '../../support/failures';

const call = (name: string, input: object): NonNullable<ScriptedStep & { toolCalls?: unknown }> =>
  ({ toolCalls: [{ name, input }] }) as never;
const plan = (...steps: readonly string[]): ScriptedStep => call('plan', { steps });
const respond = (response: string): ScriptedStep => call('respond', { response });
const planned = (options: Partial<PlanExecuteOptions<'job'>> = {}) =>
  planExecute({
    name: 'job',
    description: 'Does jobs.',
    planner: { model: 'test/planner' },
    executor: member('worker'),
    replanner: { model: 'test/replanner' },
    ...options,
  });
const sessionOf = (run: TestRun): object =>
  (run as unknown as { run: { stretch: { run: { state: { session: object } } } } }).run.stretch.run.state.session;

describe('a plan', () => {
  it('is over when the model answers, also where it plans on in the same message', async () => {
    for (const answersFirst of [true, false]) {
      const calls = [
        { name: 'respond', input: { response: 'Answer.' } },
        { name: 'plan', input: { steps: ['more'] } },
      ];
      const { outcome, run } = await play(planned(), {
        planner: [plan('one')],
        worker: [{ text: 'Did it.' }],
        replanner: [{ toolCalls: answersFirst ? calls : calls.reverse() }],
      });
      expect(outcome).toMatchObject({ status: 'completed', text: 'Answer.' });
      expect((await logOf(run)).flatMap((event) => (event.type === 'tool-start' ? [event.tool] : []))).toEqual(['plan', 'respond']);
    }
  });

  it('gives the words of the answer, and leaves the last result of the executor as it is', async () => {
    const answered = await play(planned(), {
      planner: [plan('one')],
      worker: [{ text: 'Did it.' }],
      replanner: [respond('{"response":"inner"}')],
    });
    expect(answered.outcome).toMatchObject({ text: '{"response":"inner"}' });
    const { outcome } = await play(planned({ maxIterations: 1 }), {
      planner: [plan('one')],
      worker: [{ text: '{"response":"x","rest":"kept"}' }],
      replanner: [plan('two')],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: '{"response":"x","rest":"kept"}' });
  });

  it.each([
    ['nothing', () => undefined],
    ['a promise', () => Promise.resolve('Do it.')],
  ])('tells the executor a text: a stepPrompt that returns %s fails the run', async (_, stepPrompt) => {
    const { outcome } = await play(planned({ stepPrompt: stepPrompt as never }), { planner: [plan('one')], worker: [], replanner: [] });
    expect(outcome).toMatchObject(failure('hook-failed', 'stepPrompt of planExecute "job" returned no text for the executor.'));
  });

  it('of a tool call leaves no values behind, whether it came to an answer or failed', async () => {
    const run = await testRun(member('boss', { tools: [agentTool(planned())] }), {
      input: 'Go.',
      model: scripts({
        boss: [call('job', { request: 'Paris' }) as ScriptedStep, call('job', { request: 'Rome' }) as ScriptedStep, { text: 'Both.' }],
        planner: [plan('one'), plan('two')],
        worker: [{ text: 'Did it.' }, { error: 'Broken.' }],
        replanner: [respond('Answer.')],
      }),
      tools,
    });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Both.' });
    expect(sessionOf(run)).toEqual({});
  });

  it('of the run itself stays in its values', async () => {
    const { run, model } = await play(planned(), {
      planner: [plan('one')],
      worker: [{ text: 'Did it.' }],
      replanner: [respond('Answer.')],
    });
    expect(Object.keys(sessionOf(run))).toEqual(['UserInput', 'ExecutedSteps', 'Plan', 'ExecutedStep']);
    expect(heard(model.requests('worker')[0]!).join()).toContain('The user asks:\nGo.');
  });
});
