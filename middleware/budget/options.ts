import { defined } from '../../contract/defined';
import { parseDuration } from '../../contract/duration';
import type { Form } from '../checked-options';
import { checkedOptions, isAmount, isCount, isOneOf, isRecord, isText, isTexts, nameForm, optional, refuseFor } from '../checked-options';
import { hasPrice, noPrice } from './costs';

/** For a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Of input that the provider had in its cache. Default: as other input. */
  readonly cachedInput?: number;
}

/** Tokens, money or both. */
export interface Amount {
  readonly tokens?: number;
  readonly money?: number;
}

export interface AskForMore {
  /** How long a person has, such as '1d'. Then the agent ends. Default: for ever. */
  readonly deadline?: string;
  /** Who may answer. Default: anybody. */
  readonly by?: readonly string[];
}

export interface CheaperModel {
  readonly model: string;
  /** What may be spent beyond the budget once the model has changed. */
  readonly more?: Amount;
  /** What happens when that is spent, too. Default: end. */
  readonly then?: 'ask' | 'end' | 'fail';
}

export interface BudgetOptions extends Amount {
  /** Agents of a run that share a name share the account. */
  readonly name?: string;
  /** By the name that the agent has for the model, or the provider/model that answers; `*` for all others. Needed for money. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** How many tokens an answer is thought to have where the settings have no `maxOutputTokens`. Default 1000. */
  readonly answerTokens?: number;
  /** What happens when the next call might not be covered. Default: end. */
  readonly whenSpent?: 'ask' | 'end' | 'fail' | { readonly ask: AskForMore } | CheaperModel;
  /** What the agent ends with. */
  readonly message?: string;
}

/** The options of a budget, after defaults. */
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

const isPrice = (value: unknown): boolean =>
  isRecord(value) &&
  Object.keys(value).every((field) => ['input', 'output', 'cachedInput'].includes(field)) &&
  isAmount(value['input']) &&
  isAmount(value['output']) &&
  optional(isAmount)(value['cachedInput']);

const isMoney = (value: unknown): boolean => isAmount(value) && value > 0;
const isLast = isOneOf('ask', 'end', 'fail');

const amounts: Readonly<Record<'tokens' | 'money', Form>> = {
  tokens: [optional(isCount), 'a whole number of at least 1'],
  money: [optional(isMoney), 'a number above 0, in the currency of the prices'],
};

const isWhenSpent = (value: unknown): boolean => isLast(value) || (isRecord(value) && ('ask' in value || 'model' in value));

export function rulesOf(given: BudgetOptions): BudgetRules {
  const refuse = refuseFor('budget');
  const options = checkedOptions<BudgetOptions>('budget', given, {
    name: nameForm,
    ...amounts,
    prices: [
      optional((value) => isRecord(value) && Object.values(value).every(isPrice)),
      'a table such as { "openai/gpt-5": { input: 1.25, output: 10 } }, for a million tokens, with cachedInput where it differs',
    ],
    answerTokens: [optional(isCount), 'a whole number of at least 1'],
    whenSpent: [optional(isWhenSpent), '"ask", "end", "fail", { ask: { deadline, by } } or { model, more, then }'],
    message: [optional(isText), 'a text'],
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

export function amountOf({ tokens, money }: Amount): Amount {
  return defined({ tokens, money });
}

function checkedAsk(whenSpent: { readonly ask: AskForMore }): AskForMore {
  checkedOptions('budget, whenSpent', whenSpent, { ask: [isRecord, 'an object, possibly empty'] });
  checkedOptions('budget, whenSpent.ask', whenSpent.ask, {
    deadline: [optional((value) => isText(value) && parseDuration(value) !== undefined), 'a duration, for example "1d"'],
    by: [optional(isTexts), 'a list of at least one name; nobody else could ever answer'],
  });
  return whenSpent.ask;
}

function checkedCheaper(whenSpent: CheaperModel, limit: Amount): CheaperModel {
  checkedOptions('budget, whenSpent', whenSpent, {
    model: [isText, 'the name of a model'],
    more: [optional(isRecord), '{ tokens, money }'],
    then: [optional(isLast), '"ask", "end" or "fail"'],
  });
  const { more = {} } = whenSpent;
  checkedOptions('budget, whenSpent.more', more, amounts);
  if (limit.tokens !== undefined && more.tokens === undefined)
    refuseFor('budget')('a cheaper model uses tokens, too: say in whenSpent.more.tokens how many it may use beyond the budget.');
  const unlimited = (['tokens', 'money'] as const).find((unit) => more[unit] !== undefined && limit[unit] === undefined);
  if (unlimited !== undefined)
    refuseFor('budget')(`whenSpent.more.${unlimited} adds to a limit that is not there; give the budget ${unlimited}.`);
  return whenSpent;
}
