import { HoldfastError } from '../../contract/errors';
import type { Message, Usage } from '../../contract/messages/messages';
import type { ModelRequest } from '../../kernel/define/middleware';
import type { Amount, BudgetRules, Price } from './options';
import { noPrice } from './options';

export type Cost = Required<Amount>;

export function estimatedUsage({ messages, instructions, settings }: ModelRequest, { answerTokens }: BudgetRules): Usage {
  const inputTokens = messages.reduce((sum, message) => sum + tokensOf(message), tokensIn(instructions));
  return { inputTokens, outputTokens: settings?.maxOutputTokens ?? answerTokens };
}

export function costOf(usage: Usage, models: readonly string[], { limit, prices }: BudgetRules): Cost {
  return {
    tokens: counted(usage.inputTokens) + counted(usage.outputTokens),
    money: limit.money === undefined ? 0 : priced(usage, priceOf(prices, ...models)),
  };
}

function priceOf(prices: BudgetRules['prices'], ...models: readonly string[]): Price {
  const named = [...models, '*'].find((model) => Object.hasOwn(prices, model));
  const price = named === undefined ? undefined : prices[named];
  if (price !== undefined) return price;
  throw new HoldfastError('hook-failed', `The budget ${noPrice(prices, models[0] ?? '')}`);
}

function priced(usage: Usage, { input, output, cachedInput = input }: Price): number {
  const [all, cached, answer] = [counted(usage.inputTokens), counted(usage.cachedInputTokens), counted(usage.outputTokens)];
  // Some providers count cached tokens beside the input.
  const fromCache = Math.min(cached, all);
  return ((all - fromCache) * input + fromCache * cachedInput + answer * output) / 1_000_000;
}

export function counted(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}

const perMessage = 4;
const perFile = 1500;

function tokensOf({ parts }: Message): number {
  return parts.reduce((sum, part) => {
    if (part.type === 'text' || part.type === 'reasoning') return sum + tokensIn(part.text);
    return sum + (part.type === 'file' ? perFile : tokensIn(JSON.stringify(part)));
  }, perMessage);
}

/** Four Latin letters make a token; a letter of another script is a token. */
function tokensIn(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) quarters += text.charCodeAt(index) < 0x250 ? 1 : 4;
  return Math.ceil(quarters / 4);
}
