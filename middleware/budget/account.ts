import type { Usage } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';
import type { Cost } from './costs';
import { costOf, counted } from './costs';
import type { Amount, BudgetRules } from './options';
import { unitsOf } from './options';

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens'>;

interface Book {
  readonly spent: Cost;
  readonly reserved: Cost;
  readonly granted: Cost;
  readonly seen: Tokens;
  readonly other?: Tokens;
  readonly cheaper?: true;
}

export type BudgetState = { readonly [What in 'limit' | 'spent' | 'reserved' | 'needed']: Amount };

const nothing: Cost = { tokens: 0, money: 0 };
const none: Tokens = { inputTokens: 0, outputTokens: 0 };
const empty: Book = { spent: nothing, reserved: nothing, granted: nothing, seen: none };

/** All agents of a run share the account. Decisions read only session values, so re-entered code decides the same. */
export class Account {
  constructor(
    private readonly ctx: HookContext,
    readonly rules: BudgetRules,
  ) {}

  get isCheaper(): boolean {
    return this.book.cheaper === true;
  }

  /** Must stay synchronous, so that no other call comes in between. */
  reserve(cost: Cost, model: string): BudgetState | undefined {
    const unseen = this.unseen();
    const { book } = this;
    // The calls' model is unknown, so the next call's model gives the price.
    const other = unseen.inputTokens + unseen.outputTokens === 0 ? nothing : costOf(unseen, [model], this.rules);
    const limit = this.limitIn(book);
    const spent = plus(book.spent, other);
    const after = plus(plus(spent, book.reserved), cost);
    if (unitsOf(limit).every((unit) => after[unit] <= (limit[unit] ?? 0) + rounding)) {
      this.write({ ...book, reserved: plus(book.reserved, cost), other: unseen });
      return undefined;
    }
    return { limit, spent: this.shown(spent), reserved: this.shown(book.reserved), needed: this.shown(cost) };
  }

  settle(reserved: Cost, real: Cost, usage: Usage | undefined): void {
    const { book } = this;
    this.write({
      ...book,
      reserved: plus(book.reserved, reserved, -1),
      spent: plus(book.spent, real),
      seen: {
        inputTokens: book.seen.inputTokens + counted(usage?.inputTokens),
        outputTokens: book.seen.outputTokens + counted(usage?.outputTokens),
      },
    });
  }

  grant({ tokens = 0, money = 0 }: Amount): void {
    const { book } = this;
    this.write({ ...book, granted: plus(book.granted, { tokens, money }) });
  }

  becomeCheaper(): void {
    this.write({ ...this.book, cheaper: true });
  }

  private get key(): string {
    return `${this.rules.name}:account`;
  }

  private get book(): Book {
    return (this.ctx.session.get(this.key) as unknown as Book | undefined) ?? empty;
  }

  private write(book: Book): void {
    this.ctx.session.set(this.key, book as never);
  }

  private limitIn({ granted, cheaper }: Book): Amount {
    const { limit, cheaper: model } = this.rules;
    const more = cheaper === true ? (model?.more ?? {}) : {};
    return Object.fromEntries(unitsOf(limit).map((unit) => [unit, (limit[unit] ?? 0) + granted[unit] + (more[unit] ?? 0)]));
  }

  /** Unknown while calls are under way: a returned call is not settled at once. */
  private unseen(): Tokens {
    const { reserved, seen, other } = this.book;
    if (reserved.tokens > 0) return other ?? none;
    const { usage } = this.ctx;
    // The session keeps `usage` for re-entered code, because no effect records the value.
    this.ctx.session.set(`${this.key}:used`, { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens });
    const used = this.ctx.session.get(`${this.key}:used`) as unknown as Tokens;
    return {
      inputTokens: Math.max(0, used.inputTokens - seen.inputTokens),
      outputTokens: Math.max(0, used.outputTokens - seen.outputTokens),
    };
  }

  private shown({ tokens, money }: Cost): Amount {
    const { limit } = this.rules;
    return {
      ...(limit.tokens === undefined ? {} : { tokens }),
      ...(limit.money === undefined ? {} : { money: Math.round(money * 1_000_000) / 1_000_000 }),
    };
  }
}

const rounding = 1e-9;

function plus(one: Cost, other: Cost, times = 1): Cost {
  const money = one.money + times * other.money;
  return { tokens: one.tokens + times * other.tokens, money: Math.abs(money) < rounding ? 0 : money };
}
