import type { Forms } from '../../contract/check';
import { checkOptions, filled, flag, func, oneOf, record, texts, worded } from '../../contract/check';
import type { Json, Message } from '../../contract/messages/messages';

export interface Traits {
  /** The tools that its hooks offer. Default: every tool of the worker, and names are checked later. */
  readonly offersTools?: readonly string[];
  /** Tools of the agent that the options name. A misspelt name is refused. */
  readonly namesTools?: readonly string[];
  /** Tools whose calls may stand in the first messages of a run. The agent need not have these tools. */
  readonly remembersTools?: readonly string[];
  /** Why the middleware does not work in this agent. With a text the definition is refused. */
  readonly problemIn?: (agent: { readonly model: string }) => string | undefined;
  /** The configured policy that decides. The middleware wraps the tools of the policy. */
  readonly asksPolicy?: string;
  /**
   * Changes the end of every tool call, even from a layer, a person or an agent. Called last, at any position. The same object keeps the
   * message.
   */
  readonly changesToolEnd?: (message: Message) => Message;
  /** Readers see the model's answer, or the tool result, as this middleware gets it. */
  readonly showsHere?: 'model' | 'tool';
  /** The name says what made the middleware. A second middleware gets a number. */
  readonly isNumbered?: boolean;
  /** Why a second middleware in an agent would be useless or harmful. */
  readonly onlyOne?: string;
  /** Facts for `ctx.factsOfMiddleware`, by name. */
  readonly facts?: Readonly<Record<string, Json>>;
}

// Registered, so two copies of the package in one bundle share the mark; enumerable, so a spread copy keeps the traits.
const mark = Symbol.for('holdfast.traits');

const toolNames = worded(texts, 'an array of tool names');
const forms: Forms<Traits> = {
  offersTools: toolNames,
  namesTools: toolNames,
  remembersTools: toolNames,
  problemIn: func,
  asksPolicy: filled,
  changesToolEnd: func,
  showsHere: oneOf('model', 'tool'),
  isNumbered: flag,
  onlyOne: worded(filled, 'a reason'),
  facts: record,
};

/**
 * Adds traits to a middleware, or to a function given to a middleware.
 * @example
 * const quick: AgentMiddleware = {
 *   name: 'quick',
 *   beforeModelRewriteState: (_state, ctx) => (ctx.iteration === 1 ? { tools: ['refund'] } : undefined),
 * };
 * export const quickRefund = withTraits(quick, { offersTools: [], namesTools: ['refund'] });
 */
export function withTraits<Given extends object>(given: Given, traits: Traits): Given {
  checkOptions<Traits>('withTraits', traits, forms);
  return Object.assign(given, { [mark]: { ...traitsOf(given), ...traits } });
}

/**
 * Returns all traits of a middleware, or of a function given to a middleware.
 * @example
 * const quick = withTraits({ name: 'quick' }, { namesTools: ['refund'] });
 * console.log(traitsOf(quick).namesTools);
 * console.log(traitsOf(approval({ tools: { refund: true } })));
 */
export function traitsOf(given: object): Traits {
  return (given as { readonly [mark]?: Traits })[mark] ?? {};
}
