import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Json, Usage } from '../../contract/messages/messages';
import type { AgentMiddleware, HookContext, ModelRequest, ModelResponse } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import type { BudgetState } from './account';
import { Account } from './account';
import type { Cost } from './costs';
import { costOf, estimatedUsage } from './costs';
import type { Amount, BudgetOptions, BudgetRules } from './options';
import { amountOf, isAmount, rulesOf, unitsOf, hasPrice, noPrice } from './options';

export type { Amount, AskForMore, BudgetOptions, CheaperModel, Price } from './options';

/**
 * Keeps model calls within a budget. Each call reserves its estimate, so parallel calls exceed the budget only beyond their estimates.
 * @example
 * export const pocketMoney = budget({
 *   money: 0.5,
 *   prices: { '*': { input: 3, output: 15 } },
 *   whenSpent: { ask: { deadline: '1d', by: ['ada'] } },
 * });
 */
export function budget(options: BudgetOptions): AgentMiddleware {
  const rules = rulesOf(options);
  const middleware: AgentMiddleware = {
    name: rules.name,
    async wrapModel(request, next, ctx) {
      const account = new Account(ctx, rules);
      for (;;) {
        const asked = account.isCheaper && rules.cheaper !== undefined ? { ...request, model: rules.cheaper.model } : request;
        const guess = estimatedUsage(asked, rules);
        const estimate = costOf(guess, [asked.model], rules);
        const missing = account.reserve(estimate, asked.model);
        if (missing === undefined) return settled(asked, next, account, guess);
        if (rules.cheaper !== undefined && !account.isCheaper) {
          account.becomeCheaper();
          ctx.sendEvent(rules.name, { ...missing, model: rules.cheaper.model });
          continue;
        }
        const more = rules.last === 'ask' ? await askedFor(missing, ctx, rules) : undefined;
        if (more !== undefined) {
          account.grant(more);
          continue;
        }
        const why = `The budget of this run is spent: ${inWords(missing)}.`;
        if (rules.last === 'fail') throw new HoldfastError('budget-spent', `${why} It is set by "${rules.name}".`);
        ctx.sendEvent(rules.name, { ...missing, ended: true });
        return { message: { role: 'assistant', parts: [{ type: 'text', text: rules.message ?? why }] }, model: `middleware/${rules.name}` };
      }
    },
  };
  return withTraits(middleware, { problemIn: ({ model }) => (hasPrice(rules, model) ? undefined : `it ${noPrice(rules.prices, model)}`) });
}

async function settled(
  request: ModelRequest,
  next: (request: ModelRequest) => Promise<ModelResponse>,
  account: Account,
  guess: Usage,
): Promise<ModelResponse> {
  const { rules } = account;
  const estimate = costOf(guess, [request.model], rules);
  let response: ModelResponse;
  try {
    response = await next(request);
  } catch (error) {
    account.settle(estimate, { tokens: 0, money: 0 }, undefined);
    throw error;
  }
  account.settle(estimate, realCost(response, request.model, guess, rules), response.usage);
  return response;
}

/** Without usage the estimate counts. Answers of other layers are free. */
function realCost(response: ModelResponse, asked: string, guess: Usage, rules: BudgetRules): Cost {
  const { usage, uncounted = [], model = asked } = response;
  if (usage === undefined) return model.startsWith('middleware/') ? { tokens: 0, money: 0 } : costOf(guess, [asked], rules);
  const guessed = Object.fromEntries(uncounted.map((count) => [count, guess[count]]));
  return costOf({ ...usage, ...guessed }, [model, asked], rules);
}

const amountSchemas = { tokens: { type: 'integer', minimum: 0 }, money: { type: 'number', minimum: 0 } } as const;

function answerSchemaOf({ limit, spent, reserved, needed }: BudgetState): Json {
  const lacking = (unit: 'tokens' | 'money'): number => {
    const amount = (spent[unit] ?? 0) + (reserved[unit] ?? 0) + (needed[unit] ?? 0) - (limit[unit] ?? 0);
    return Math.ceil(amount * 1e6) / 1e6;
  };
  const properties = Object.fromEntries(
    unitsOf(limit).map((unit) => [unit, lacking(unit) > 0 ? { ...amountSchemas[unit], default: lacking(unit) } : amountSchemas[unit]]),
  );
  return { type: 'object', properties, additionalProperties: false };
}

async function askedFor(missing: BudgetState, ctx: HookContext, { name, ask, limit }: BudgetRules): Promise<Amount | undefined> {
  const { deadline, by } = ask;
  const answer = await ctx.interrupt<unknown>(
    { budget: name, question: 'The budget of this run is spent. How much more may it use?', ...missing },
    {
      answerSchema: answerSchemaOf(missing),
      ...(deadline === undefined ? {} : { deadline, onDeadline: {} }),
      ...defined({ by }),
    },
  );
  const { tokens, money } = (answer ?? {}) as { readonly tokens?: unknown; readonly money?: unknown };
  const more = amountOf({
    ...(limit.tokens !== undefined && isAmount(tokens) && tokens > 0 ? { tokens } : {}),
    ...(limit.money !== undefined && isAmount(money) && money > 0 ? { money } : {}),
  });
  return Object.keys(more).length === 0 ? undefined : more;
}

function inWords({ limit, spent, reserved, needed }: BudgetState): string {
  return unitsOf(limit)
    .map((unit) => {
      const held = reserved[unit] ?? 0;
      const others = held > 0 ? `, ${held} are reserved for calls that are on their way` : '';
      return `of ${limit[unit] ?? 0} ${unit === 'tokens' ? 'tokens' : 'in money'} ${spent[unit] ?? 0} are used${others}, and the next call may take ${needed[unit] ?? 0}`;
    })
    .join('; ');
}
