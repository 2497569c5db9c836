import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import type { BudgetOptions } from 'holdfast/middleware';
import { budget } from 'holdfast/middleware';
import { parallel, sequential } from 'holdfast/workflow';
import { agentUnder, agentWith, echo, logOf, only, startRun, withHook } from '../../support/memory-bed';
import { member, play } from '../../support/team-bed';
import { failure, errorOf } from '../../support/failures';

const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });
const calls = (tokens = usage(300, 100)): ScriptedStep => ({ toolCalls: [echo('x')], usage: tokens });
const prices = { 'test/model': { input: 1000, output: 5000, cachedInput: 100 }, small: { input: 10, output: 50 } };

async function runWith(options: BudgetOptions, ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const run = await startRun(agentWith({ middleware: [budget(options)], settings: { maxOutputTokens: 100 } }), model);
  return { model, run, outcome: await run.outcome() };
}

const answered = async (run: Awaited<ReturnType<typeof runWith>>['run']) => only(await run.interrupts());

describe('a budget of tokens', () => {
  it('ends the agent before the call that it might not cover', async () => {
    const { outcome, model, run } = await runWith({ tokens: 900 }, calls(), calls(), { text: 'Never.' });
    expect(outcome).toMatchObject({
      status: 'completed',
      text: expect.stringMatching(/^The budget of this run is spent: of 900 tokens 800 are used, and the next call may take 1\d\d\.$/),
    });
    expect(model.requests).toHaveLength(2);
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toMatchObject([
      { name: 'budget', data: { limit: { tokens: 900 }, spent: { tokens: 800 }, ended: true } },
    ]);
  });

  it('fails the run when it is to', async () => {
    const { outcome } = await runWith({ tokens: 500, whenSpent: 'fail' }, calls(), { text: 'Never.' });
    expect(outcome).toMatchObject(failure('budget-spent', /set by "budget"/));
  });

  it('takes the estimate where the provider says nothing', async () => {
    const says: ScriptedStep = { toolCalls: [echo('x')] };
    const { outcome } = await runWith({ tokens: 400, answerTokens: 50 }, says, says, { text: 'Done.' });
    expect(outcome).toMatchObject({ status: 'completed', text: expect.stringContaining('The budget of this run is spent') });
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['fields without values', { inputTokens: undefined, outputTokens: null }],
    ['no numbers', { inputTokens: '300', outputTokens: NaN }],
    ['no amounts', { inputTokens: Infinity, outputTokens: -10 }],
    ['zero', { inputTokens: 0, outputTokens: 0 }],
    ['only the answer', { outputTokens: 40 }],
    ['only the question', { inputTokens: 300, outputTokens: 0 }],
  ])('takes the estimate of what a provider leaves out that says %s', async (_, said) => {
    const odd: ScriptedStep = { toolCalls: [echo('x')], usage: said as never };
    const middleware = [budget({ tokens: 2000 })];
    const agent = agentWith({ instructions: 'Long. '.repeat(200), middleware, settings: { maxOutputTokens: 200 } });
    for (const settings of [{ stream: false }, { stream: true }]) {
      const model = scriptedModel([odd, odd, odd, odd, odd, odd, odd, odd, { text: 'Never.' }], settings);
      const run = await startRun(agent, model, settings);
      expect(await run.outcome()).toMatchObject({ text: expect.stringContaining('The budget of this run is spent') });
      expect(model.requests.length).toBeLessThan(6);
      const { inputTokens = 0, outputTokens = 0 } = await run.usage();
      expect([inputTokens, outputTokens].every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)).toBe(true);
    }
  });

  it('counts hidden calls, too', async () => {
    const hidden = withHook('hidden', 'afterToolCalls', async (_state, ctx) => {
      await ctx.model('small', { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Short, please.' }] }] });
    });
    const model = scriptedModel([calls(usage(10, 10)), { text: 'Short.', usage: usage(4000, 500) }, { text: 'Never.' }]);
    const run = await startRun(agentUnder(hidden, budget({ tokens: 4200, answerTokens: 10 })), model);
    expect(await run.outcome()).toMatchObject({ text: expect.stringContaining('of 4200 tokens 4520 are used') });
  });

  it('asks a person for more, over a continue-as-new', async () => {
    const { run, outcome } = await runWith({ tokens: 500, whenSpent: { ask: { by: ['ada'] } } }, calls(), calls(), {
      text: 'Done.',
      usage: usage(10, 10),
    });
    expect(outcome.status).toBe('waiting');
    const first = await answered(run);
    expect(first).toMatchObject({
      by: ['ada'],
      info: { budget: 'budget', limit: { tokens: 500 }, spent: { tokens: 400 }, reserved: { tokens: 0 } },
    });
    await expect(run.resume(first.id, { tokens: 1 }, { by: 'bob' })).rejects.toMatchObject({ code: 'answer-forbidden' });
    await run.goOnAsNew();
    await run.resume(first.id, { tokens: 1 }, { by: 'ada' });
    const second = await answered(run);
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ info: { limit: { tokens: 501 } } });
    await run.resume(second.id, { tokens: 1000 }, { by: 'ada' });
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('ends when a person gives nothing, or nobody answers in time', async () => {
    const given = await runWith({ tokens: 100, whenSpent: 'ask' }, { text: 'Never.' });
    await given.run.resume((await answered(given.run)).id, {});
    expect(await given.run.outcome()).toMatchObject({ status: 'completed', text: expect.stringContaining('spent') });
    const late = await runWith({ tokens: 100, whenSpent: { ask: { deadline: '1d' } }, message: 'Too dear.' }, { text: 'Never.' });
    await late.run.advance('2d');
    expect(await late.run.outcome()).toMatchObject({ status: 'completed', text: 'Too dear.' });
  });

  it('refuses an answer that is no amount, or in a unit that it does not have, by name, and goes on asking', async () => {
    const { run } = await runWith({ tokens: 100, whenSpent: 'ask' }, { text: 'Done.', usage: usage(10, 10) });
    const { id } = await answered(run);
    await expect(run.resume(id, { tokens: -5 })).rejects.toMatchObject({ code: 'answer-invalid' });
    await expect(run.resume(id, { money: 5 })).rejects.toMatchObject(errorOf('answer-invalid', /money is not wanted; there is tokens/));
    await run.resume(id, { tokens: 1000 });
    expect(await run.outcome()).toMatchObject({ text: 'Done.' });
    const rich = await runWith({ money: 0.01, prices, whenSpent: 'ask' }, { text: 'Never.' });
    await expect(rich.run.resume((await answered(rich.run)).id, { tokens: 5 })).rejects.toMatchObject({
      message: expect.stringContaining('tokens is not wanted; there is money'),
    });
  });
});

describe('a budget of money', () => {
  it('counts by the price of the model, cached input less', async () => {
    const { run, outcome } = await runWith(
      { money: 1.5, prices },
      { toolCalls: [echo('x')], usage: { inputTokens: 400, outputTokens: 100, cachedInputTokens: 300 } },
      { text: 'Never.', usage: usage(1, 1) },
    );
    expect(outcome.status).toBe('completed');
    const data = (await logOf(run)).flatMap((event) => (event.type === 'custom' ? [event.data] : []));
    expect(data).toEqual([]);
    const dear = await runWith({ money: 1, prices }, { toolCalls: [echo('x')], usage: usage(400, 100) }, { text: 'Never.' });
    expect((await logOf(dear.run)).find((event) => event.type === 'custom')).toMatchObject({
      data: { spent: { money: 0.9 }, limit: { money: 1 } },
    });
  });

  it('changes to a cheaper model, with more for it, and ends behind that', async () => {
    const { model, run, outcome } = await runWith(
      { money: 1, prices, whenSpent: { model: 'small', more: { money: 0.01 } } },
      { toolCalls: [echo('x')], usage: usage(400, 100) },
      { toolCalls: [echo('x')], usage: usage(1000, 1200) },
      { toolCalls: [echo('x')], usage: usage(300, 800) },
      { text: 'Never.' },
    );
    expect(outcome).toMatchObject({ status: 'completed', text: expect.stringContaining('of 1.01 in money') });
    expect(model.requests.map((request) => request.model)).toEqual(['test/model', 'small', 'small']);
    expect((await logOf(run)).find((event) => event.type === 'custom')).toMatchObject({ data: { model: 'small' } });
  });

  it('says which price is missing when a layer asks another model', async () => {
    const asks: AgentMiddleware = { name: 'asks', wrapModel: (request, next) => next({ ...request, model: 'large' }) };
    const run = await startRun(agentUnder(asks, budget({ money: 1, prices: { 'test/model': { input: 1, output: 1 } } })), []);
    expect(await run.outcome()).toMatchObject(failure('hook-failed', /no price for the model "large"/));
  });

  it('releases what was reserved for a call that failed', async () => {
    const model = scriptedModel([{ error: 'no' }, { text: 'Done.', usage: usage(10, 10) }]);
    const again: AgentMiddleware = { name: 'again', wrapModel: (request, next) => next(request).catch(() => next(request)) };
    const run = await startRun(agentUnder(again, budget({ tokens: 1100, whenSpent: 'fail' })), model);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  });
});

it('calls at once share the account: what is reserved for one is not there for the other', async () => {
  const twice = withHook('twice', 'wrapModel', async (request, next) => {
    const [first, second] = await Promise.allSettled([next(request), next(request)]);
    const { message } = first.status === 'fulfilled' ? first.value : { message: { role: 'assistant' as const, parts: [] } };
    const failed = second.status === 'rejected' ? String((second.reason as { code?: unknown }).code) : 'none';
    return { message: { ...message, parts: [{ type: 'text', text: failed }] } };
  });
  const model = scriptedModel(['One.', 'Two.'].map((text) => ({ text, usage: usage(100, 100) })));
  const run = await startRun(agentUnder(twice, budget({ tokens: 1500, whenSpent: 'fail' })), model);
  expect(await run.outcome()).toMatchObject({ text: 'budget-spent' });
  expect(model.requests).toHaveLength(1);
});

describe('a budget of several agents', () => {
  const withBudget = (name: string, options: BudgetOptions) =>
    member(name, { middleware: [budget(options)], settings: { maxOutputTokens: 100 } });

  it('is one account', async () => {
    const both = sequential({
      name: 'both',
      agents: ['first', 'second'].map((name) => withBudget(name, { tokens: 600, whenSpent: 'fail' })),
    });
    const { outcome } = await play(both, { first: [{ text: 'One.', usage: usage(400, 100) }], second: [{ text: 'Never.' }] });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'budget-spent', message: expect.stringContaining('500 are used') } });
  });

  it('is not exceeded by lanes that run at once, and each of them asks for itself', async () => {
    const names = ['a', 'b', 'c'];
    const lanes = parallel({ name: 'lanes', agents: names.map((name) => withBudget(name, { tokens: 260, whenSpent: 'ask' })) });
    const { run, model } = await play(lanes, {
      a: [{ text: 'A.', usage: usage(20, 90) }],
      b: [{ text: 'B.', usage: usage(20, 90) }],
      c: [{ text: 'C.', usage: usage(20, 90) }],
    });
    const interrupt = only(await run.interrupts());
    expect(interrupt).toMatchObject({ agent: 'c', info: { limit: { tokens: 260 }, spent: { tokens: 0 } } });
    expect(model.requests('c')).toHaveLength(0);
    await run.goOnAsNew();
    await run.resume(interrupt.id, { tokens: 100 });
    expect((await run.outcome()).status).toBe('completed');
    expect(await run.usage()).toMatchObject({ inputTokens: 60, outputTokens: 270 });
  });
});

it.each<[string, unknown, RegExp]>([
  ['no limit', {}, /budget: give it tokens, money or both/],
  ['money without prices', { money: 1 }, /money needs prices/],
  ['a price that is none', { money: 1, prices: { a: { input: -1, output: 1 } } }, /prices must be a table such as \{ "openai\/gpt-5": \{/],
  ['a budget of nothing', { tokens: 0 }, /tokens must be a whole number of at least 1\. It is 0\./],
  ['an unknown strategy', { tokens: 1, whenSpent: 'wait' }, /whenSpent must be "ask", "end", "fail", .*\. It is "wait"\./],
  ['a deadline that is none', { tokens: 1, whenSpent: { ask: { deadline: 'soon' } } }, /whenSpent\.ask\.deadline "soon" is no duration/],
  ['a cheaper model without tokens of its own', { tokens: 1, whenSpent: { model: 'small' } }, /say in whenSpent.more.tokens/],
  ['more of what has no limit', { tokens: 1, whenSpent: { model: 'small', more: { tokens: 1, money: 1 } } }, /more.money adds to a limit/],
  ['a misspelt field', { tokens: 1, price: {} }, /there is no option "price"/],
])('the options of a budget refuse %s', (_, options, message) => {
  expect(() => budget(options as BudgetOptions)).toThrow(message);
});

describe('a price', () => {
  const money = (options: Partial<BudgetOptions> = {}) => budget({ money: 1, prices: { other: { input: 1, output: 1 } }, ...options });

  it('that the agent’s own model lacks is missed when the agent is defined', () => {
    expect(() => agentWith({ middleware: [money()] })).toThrow(
      'Agent "agent": the middleware "budget": it has no price for the model "test/model". Add it to its prices, or "*" for all others. There are: other.',
    );
    expect(agentWith({ middleware: [money({ prices: { '*': { input: 1, output: 1 } } })] }).name).toBe('agent');
    expect(() => money({ whenSpent: { model: 'small', more: { money: 1 } } })).toThrow('budget: it has no price for the model "small"');
  });

  it('is never paid back, whatever a provider reports', async () => {
    const odd = { inputTokens: 10, outputTokens: -5, cachedInputTokens: 1_000_000_000 };
    const table = { '*': { input: 1000, output: 1000, cachedInput: 10 } };
    const { outcome, model } = await runWith({ money: 1, prices: table }, calls(odd), calls(usage(2000, 10)), { text: 'Never.' });
    expect(outcome).toMatchObject({ text: expect.stringContaining('The budget of this run is spent') });
    expect(model.requests).toHaveLength(2);
  });
});
