import { costOf } from '../../contract/prices';
import { addModelUsage } from '../../contract/usage';

const usage = { inputTokens: 3000, outputTokens: 500 };
const usageByModel = {
  'openai/x': { inputTokens: 2000, outputTokens: 500, cachedInputTokens: 1000 },
  'demo/rules': { inputTokens: 1000, outputTokens: 0 },
};

describe('the cost of a run', () => {
  it('is that of the tokens of each model, in the price of a million', () => {
    const prices = { 'openai/x': { input: 2, output: 10 }, 'demo/rules': { input: 0, output: 0 } };
    expect(costOf({ usage, usageByModel }, prices)).toEqual({ amount: 0.009, complete: true });
    const cheaper = { ...prices, 'openai/x': { input: 2, output: 10, cachedInput: 0.5 } };
    expect(costOf({ usage, usageByModel }, cheaper)).toEqual({ amount: 0.0075, complete: true });
  });

  it('says which models have no price', () => {
    const prices = { 'openai/x': { input: 2, output: 10 } };
    expect(costOf({ usage, usageByModel }, prices)).toEqual({ amount: 0.009, complete: false, unpriced: ['demo/rules'] });
  });

  it('says that it is not all, where isolated agents or an older build used more', () => {
    const prices = { 'openai/x': { input: 2, output: 10 }, 'demo/rules': { input: 1, output: 1 } };
    const more = { ...usage, outputTokens: 900 };
    expect(costOf({ usage: more, usageByModel }, prices)).toEqual({ amount: 0.01, complete: false });
  });

  it('is not there where no price is known, also for models with odd names', () => {
    expect(costOf({ usage, usageByModel }, {})).toBeUndefined();
    expect(costOf({ usage }, { 'openai/x': { input: 2, output: 10 } })).toBeUndefined();
    const odd = addModelUsage(addModelUsage({}, '__proto__', usage), 'constructor', usage);
    expect(Object.keys(odd)).toEqual(['__proto__', 'constructor']);
    expect(costOf({ usage, usageByModel: odd }, {})).toBeUndefined();
  });
});
