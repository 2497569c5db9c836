import type { Forms } from '../../contract/check';
import { checkOptions, filled, flag, func, oneOf, record, texts, worded } from '../../contract/check';
import type { Json, Message } from '../../contract/messages/messages';

/** What a middleware says of itself beside its hooks. All traits are optional. */
export interface Traits {
  /** The tools that its hooks offer. Without this trait, hooks may offer every tool of the worker, and names are checked later. */
  readonly offersTools?: readonly string[];
  /** The tools of the agent that its options name. A misspelt one is refused. */
  readonly namesTools?: readonly string[];
  /** The same for tools whose calls may also stand in the messages that a run begins with: the agent need not have them. */
  readonly remembersTools?: readonly string[];
  /** Why the middleware does not work in this agent. The agent is refused when it is defined. */
  readonly problemIn?: (agent: { readonly model: string }) => string | undefined;
  /** The policy of the configuration that it asks. It is around calls of the tools that this policy holds. */
  readonly asksPolicy?: string;
  /**
   * Changes what a tool call ends with, whoever gave it: a tool, a layer, a person, another agent. It is called last, before anything is
   * shown, wherever the middleware stands. It returns the message itself to keep it.
   */
  readonly changesToolEnd?: (message: Message) => Message;
  /** Readers see an answer of the model, or the result of a tool, as it passes this middleware. */
  readonly showsHere?: 'model' | 'tool';
  /** Its name says what made it: a second one of this name in a list gets a number. */
  readonly isNumbered?: boolean;
  /** One is enough for an agent: why a second one would do nothing, or harm. */
  readonly onlyOne?: string;
  /** What other code may want to know that finds it in `ctx.middleware`, by names of your own. */
  readonly facts?: Readonly<Record<string, Json>>;
}

// A registered symbol: two copies of the package in one bundle know each other's middleware. It is enumerable: a copy of a middleware by
// spread has its traits. The marks of agents and of own tools are others: they say what kind of value something is.
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

/** Gives a middleware traits, beside those that it has. A function that is given to a middleware may have traits, too. */
export function withTraits<Given extends object>(given: Given, traits: Traits): Given {
  checkOptions<Traits>('withTraits', traits, forms);
  return Object.assign(given, { [mark]: { ...traitsOf(given), ...traits } });
}

export function traitsOf(given: object): Traits {
  return (given as { readonly [mark]?: Traits })[mark] ?? {};
}
