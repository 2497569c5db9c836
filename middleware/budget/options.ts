import { defined } from '../../contract/defined';
import type { Forms } from '../../contract/check';
import {
  bound,
  checkFields,
  checkOptions,
  duration,
  filled,
  form,
  isRecord,
  oneOf,
  refusing,
  required,
  shape,
  someTexts,
  tableOf,
  worded,
} from '../../contract/check';

/** For a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** For cached input. Default: `input`. */
  readonly cachedInput?: number;
}

export type Amount = { readonly tokens?: number; readonly money?: number };

export interface AskForMore {
  /** Time to answer, after which the agent ends. Default: for ever. */
  readonly deadline?: string;
  /** Default: any person. */
  readonly by?: readonly string[];
}

export interface CheaperModel {
  readonly model: string;
  /** The cheaper model's allowance beyond the budget. */
  readonly more?: Amount;
  /** After the allowance. Default: end. */
  readonly then?: 'ask' | 'end' | 'fail';
}

export interface BudgetOptions extends Amount {
  /** Agents with one name share the account. */
  readonly name?: string;
  /** By the agent's name of the model, or by the answering provider/model; `*` for all others. Needed for money. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** Estimated tokens of an answer without `maxOutputTokens`. Default: 1000. */
  readonly answerTokens?: number;
  /** If the next call might not fit. Default: end. */
  readonly whenSpent?: 'ask' | 'end' | 'fail' | { readonly ask: AskForMore } | CheaperModel;
  readonly message?: string;
}

export interface BudgetRules {
  readonly name: string;
  readonly limit: Amount;
  readonly prices: Readonly<Record<string, Price>>;
  readonly answerTokens: number;
  readonly cheaper?: CheaperModel;
  readonly last: 'ask' | 'end' | 'fail';
  readonly ask: AskForMore;
  readonly message: string | undefined;
}

export const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const price = form(isAmount, '');

const last = oneOf('ask', 'end', 'fail');

const people = worded(someTexts, 'an array of at least one name');

const amounts: Forms<Amount> = {
  tokens: bound,
  money: form((value) => isAmount(value) && value > 0, 'a number above 0, in the currency of the prices'),
};

const isWhenSpent = (value: unknown): boolean =>
  last.problem(value, '') === undefined || (isRecord(value) && ('ask' in value || 'model' in value));

export function rulesOf(given: BudgetOptions): BudgetRules {
  const refuse = refusing('budget');
  const options = checkOptions<BudgetOptions>('budget', given, {
    name: filled,
    ...amounts,
    prices: worded(
      tableOf(shape({ input: required(price), output: required(price), cachedInput: price }), ''),
      'a table such as { "openai/gpt-5": { input: 1.25, output: 10 } }, for a million tokens, with cachedInput where it differs',
    ),
    answerTokens: bound,
    whenSpent: form(isWhenSpent, '"ask", "end", "fail", { ask: { deadline, by } } or { model, more, then }'),
    message: filled,
  });
  const { name = 'budget', tokens, money, prices = {}, answerTokens = 1000, whenSpent = 'end', message } = options;
  if (tokens === undefined && money === undefined) refuse('give it tokens, money or both; without them it limits nothing.');
  if (money !== undefined && Object.keys(prices).length === 0) refuse('money needs prices: { "provider/model": { input, output } }.');
  const limit = amountOf(options);
  if (money === undefined && Object.keys(prices).length > 0)
    refuse('prices are for money, and it has tokens only; give it money, or leave them out.');
  const rules = { name, limit, prices, answerTokens, message };
  const isFatal = whenSpent === 'fail' || (typeof whenSpent === 'object' && 'model' in whenSpent && whenSpent.then === 'fail');
  if (message !== undefined && isFatal)
    refuse('message is what the agent ends with, and with "fail" the run fails instead; leave one of them out.');
  if (typeof whenSpent === 'string') return { ...rules, last: whenSpent, ask: {} };
  if ('ask' in whenSpent) return { ...rules, last: 'ask', ask: checkedAsk(whenSpent) };
  const cheaper = checkedCheaper(whenSpent, limit);
  if (!hasPrice(rules, cheaper.model)) refuse(`it ${noPrice(prices, cheaper.model)}`);
  return { ...rules, cheaper, last: cheaper.then ?? 'end', ask: {} };
}

export function hasPrice({ limit, prices }: Pick<BudgetRules, 'limit' | 'prices'>, model: string): boolean {
  return limit.money === undefined || Object.hasOwn(prices, model) || Object.hasOwn(prices, '*');
}

export function noPrice(prices: BudgetRules['prices'], model: string): string {
  return `has no price for the model "${model}". Add it to its prices, or "*" for all others. There are: ${Object.keys(prices).join(', ')}.`;
}

export function amountOf({ tokens, money }: Amount): Amount {
  return defined({ tokens, money });
}

export function unitsOf(limit: Amount): readonly ('tokens' | 'money')[] {
  return (['tokens', 'money'] as const).filter((unit) => limit[unit] !== undefined);
}

function checkedAsk(whenSpent: { readonly ask: AskForMore }): AskForMore {
  checkFields({ whenSpent }, { whenSpent: shape({ ask: required(shape({ deadline: duration, by: people })) }) }, refusing('budget'));
  return whenSpent.ask;
}

function checkedCheaper(whenSpent: CheaperModel, limit: Amount): CheaperModel {
  checkFields({ whenSpent }, { whenSpent: shape({ model: required(filled), more: shape(amounts), then: last }) }, refusing('budget'));
  const { more = {} } = whenSpent;
  if (limit.tokens !== undefined && more.tokens === undefined)
    refusing('budget')('a cheaper model uses tokens, too: say in whenSpent.more.tokens how many it may use beyond the budget.');
  const unlimited = (['tokens', 'money'] as const).find((unit) => more[unit] !== undefined && limit[unit] === undefined);
  if (unlimited !== undefined)
    refusing('budget')(`whenSpent.more.${unlimited} adds to a limit that is not there; give the budget ${unlimited}.`);
  return whenSpent;
}
