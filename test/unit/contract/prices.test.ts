import { costOf } from '../../../contract/prices';
import { addModelUsage } from '../../../contract/usage';

const usage = { inputTokens: 3000, outputTokens: 500 };
const usageByModel = {
  'openai/x': { inputTokens: 2000, outputTokens: 500, cachedInputTokens: 1000 },
  'demo/rules': { inputTokens: 1000, outputTokens: 0 },
};

describe('the cost of a run', () => {
  it('is that of the tokens of each model, in the price of a million', () => {
    const prices = { 'openai/x': { input: 2, output: 10 }, 'demo/rules': { input: 0, output: 0 } };
    expect(costOf({ usageByModel }, prices)).toEqual({ amount: 0.009, complete: true });
    const cheaper = { ...prices, 'openai/x': { input: 2, output: 10, cachedInput: 0.5 } };
    expect(costOf({ usageByModel }, cheaper)).toEqual({ amount: 0.0075, complete: true });
  });

  it('says which models have no price', () => {
    const prices = { 'openai/x': { input: 2, output: 10 } };
    expect(costOf({ usageByModel }, prices)).toEqual({ amount: 0.009, complete: false, unpriced: ['demo/rules'] });
  });

  it('is not there where no price is known, also for models with odd names', () => {
    expect(costOf({ usageByModel }, {})).toBeUndefined();
    expect(costOf({}, { 'openai/x': { input: 2, output: 10 } })).toBeUndefined();
    const odd = addModelUsage(addModelUsage({}, '__proto__', usage), 'constructor', usage);
    expect(Object.keys(odd)).toEqual(['__proto__', 'constructor']);
    expect(costOf({ usageByModel: odd }, {})).toBeUndefined();
  });
});
