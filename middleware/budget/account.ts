import type { Usage } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';
import type { Cost } from './costs';
import { costOf, counted } from './costs';
import type { Amount, BudgetRules } from './options';

interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface Book {
  readonly spent: Cost;
  /** For calls that have not come back. */
  readonly reserved: Cost;
  /** What people gave beyond the budget. */
  readonly granted: Cost;
  /** Tokens of the calls that are settled. */
  readonly seen: Tokens;
  /** What the run has used besides: by calls that are not seen here. */
  readonly other?: Tokens;
  /** The run has changed to the cheaper model. */
  readonly cheaper?: true;
}

/** How a budget stands, for people. */
export interface BudgetState {
  readonly limit: Amount;
  readonly spent: Amount;
  readonly reserved: Amount;
  readonly needed: Amount;
}

const nothing: Cost = { tokens: 0, money: 0 };
const none: Tokens = { inputTokens: 0, outputTokens: 0 };
const empty: Book = { spent: nothing, reserved: nothing, granted: nothing, seen: none };

/**
 * What a run has spent, among its session values: all its agents find the same one. Everything is decided from what was read there, so
 * a run that is entered again after a continue-as-new decides the same.
 */
export class Account {
  constructor(
    private readonly ctx: HookContext,
    private readonly rules: BudgetRules,
  ) {}

  get isCheaper(): boolean {
    return this.book.cheaper === true;
  }

  /** Reserves what a call may cost, or says how the budget stands. Between the two nothing else of the run can happen. */
  reserve(cost: Cost, model: string): BudgetState | undefined {
    const unseen = this.unseen();
    const { book } = this;
    // Nobody says which model that was; it is priced as the one that is asked next.
    const other = unseen.inputTokens + unseen.outputTokens === 0 ? nothing : costOf(unseen, [model], this.rules);
    const limit = this.limitIn(book);
    const spent = plus(book.spent, other);
    const after = plus(plus(spent, book.reserved), cost);
    const fits = (unit: 'tokens' | 'money'): boolean => limit[unit] === undefined || after[unit] <= (limit[unit] ?? 0) + rounding;
    if (fits('tokens') && fits('money')) {
      this.write({ ...book, reserved: plus(book.reserved, cost), other: unseen });
      return undefined;
    }
    return { limit, spent: this.shown(spent), reserved: this.shown(book.reserved), needed: this.shown(cost) };
  }

  /** Puts what a call has cost in place of what was reserved for it. Tokens of one that failed are among the other ones. */
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
    const of = (unit: 'tokens' | 'money'): Amount =>
      limit[unit] === undefined ? {} : { [unit]: limit[unit] + granted[unit] + (more[unit] ?? 0) };
    return { ...of('tokens'), ...of('money') };
  }

  /**
   * What calls used that did not come through here: hidden ones, and those that failed. While calls are on their way that is not known:
   * one that has come back is not settled at once.
   */
  private unseen(): Tokens {
    const { reserved, seen, other } = this.book;
    if (reserved.tokens > 0) return other ?? none;
    const { usage } = this.ctx;
    // The usage of the run is no effect; it goes through the session, where code that is entered again finds what it saw.
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

/** Sums of prices are no exact numbers. */
const rounding = 1e-9;

function plus(one: Cost, other: Cost, times = 1): Cost {
  const money = one.money + times * other.money;
  return { tokens: one.tokens + times * other.tokens, money: Math.abs(money) < rounding ? 0 : money };
}
