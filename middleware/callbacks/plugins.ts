import type { MaybePromise } from '../../contract/maybe-promise';
import type { Forms } from '../../contract/check';
import { anything, checkOptions, func, isRecord, isString, refusing } from '../../contract/check';
import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import type { Message, ToolCall } from '../../contract/messages/messages';
import { isMessage } from '../../contract/messages/messages';
import { cut, shown, shownName } from '../../contract/shown';
import type { ChainAt } from './chain';
import { Chain, PlacedError, phases } from './chain';
import type { Callback, CallbackArgs, CallbackAt, CallbackResult, Place, Places } from './types';
import { isCancellation } from '../../kernel/effects/errors';

export interface AfterToolMessagesArgs extends CallbackArgs {
  /** The conversation up to the results. */
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
  readonly toolMessages: readonly Message[];
}

type PlacedCallbacks = { readonly [At in Place]?: CallbackAt<At> };

/** Callbacks of all places under one name. They run before the agent's own, and a value or an error stops the chain. */
export interface Plugin extends PlacedCallbacks {
  readonly name: string;
  /** May replace the results of one message, one for each call. */
  readonly afterToolMessages?: (args: AfterToolMessagesArgs) => MaybePromise<readonly Message[] | null | undefined | void>;
}

/**
 * Makes a plugin: callbacks of all places under one name.
 * @example
 * export const limits = plugin({
 *   name: 'limits',
 *   beforeModel({ invocation }) {
 *     if (invocation.usage.outputTokens > 10_000) throw new StopError('The budget of this run is used up.');
 *   },
 * });
 */
export function plugin(hooks: Plugin): Plugin {
  checkPlugin(hooks);
  return Object.freeze({ ...hooks });
}

export function checkPlugins(plugins: readonly Plugin[]): void {
  const names = new Set<string>();
  for (const one of plugins) {
    checkPlugin(one);
    if (names.has(one.name)) refusing('plugin')(`"${cut(one.name)}" stands in the list twice; names must differ.`);
    names.add(one.name);
  }
}

const forms: Forms<Plugin> = {
  name: anything,
  beforeAgent: func,
  afterAgent: func,
  beforeModel: func,
  afterModel: func,
  beforeTool: func,
  afterTool: func,
  afterToolMessages: func,
};

function checkPlugin(value: unknown): void {
  const { name } = (isRecord(value) ? value : {}) as Partial<Plugin>;
  if (!isString(name) || name === '') refusing('plugin')(`a plugin must be an object with a name and callbacks, not ${shown(value)}.`);
  checkOptions(`plugin "${shownName(name)}"`, value, forms);
}

export function chainOf<At extends Place>(plugins: readonly Plugin[], place: At): ChainAt<At> {
  const phase = phases[place];
  const chain = new Chain<Places[At][0], Places[At][1]>(phase);
  for (const one of plugins) {
    const callback = (one as PlacedCallbacks)[place];
    if (callback !== undefined) chain.add(named(one.name, phase.name, callback));
  }
  return chain;
}

function named<Args, Result extends CallbackResult>(name: string, phase: string, callback: Callback<Args, Result>): Callback<Args, Result> {
  return async (args) => {
    try {
      const result = await callback(args);
      const error = result?.error;
      return error === undefined || error === null ? result : { ...(result as Result), error: prefixed(name, phase, error) };
    } catch (error) {
      throw prefixed(name, phase, error);
    }
  };
}

export function prefixed(name: string, phase: string, error: unknown): unknown {
  if (isCancellation(error)) return error;
  const isError = Object.prototype.toString.call(error) === '[object Error]';
  const message = `${name}: ${isError ? '' : `${phase} callback panic: `}${messageOf(error)}`;
  const code = thrownCodeOf(error);
  if (code !== undefined) return new HoldfastError(code, message, { cause: error });
  return Object.assign(isError && !(error instanceof PlacedError) ? new Error(message) : new PlacedError(message), { cause: error });
}

export function replacedMessages(original: readonly Message[], replacement: unknown): readonly Message[] {
  const refuse = (problem: string): never => {
    throw new Error(problem);
  };
  if (original.length === 0) return refuse('there are no tool messages to replace');
  if (!Array.isArray(replacement)) return refuse('the replacement is no list of messages');
  if (replacement.length !== original.length)
    return refuse(`the replacement has ${replacement.length} messages in place of ${original.length}`);
  const known = new Set(original.map(callIdOf));
  const byId = new Map<string, Message>();
  for (const message of replacement as readonly unknown[]) {
    if (!isMessage(message)) return refuse('the replacement has an entry that is no message');
    if (message.role !== 'tool') return refuse(`the replacement has a message of the role "${message.role}", not tool`);
    const id = callIdOf(message);
    if (id === undefined) return refuse('a message of the replacement has no tool call id');
    if (!known.has(id)) return refuse(`the replacement has the unknown tool call id "${id}"`);
    if (byId.has(id)) return refuse(`the replacement has the tool call id "${id}" twice`);
    byId.set(id, message);
  }
  return original.map((message) => byId.get(callIdOf(message) ?? '') ?? message);
}

export function callIdOf({ parts }: Message): string | undefined {
  const part = parts.find(({ type }) => type === 'tool-result');
  return part?.type === 'tool-result' && part.callId !== '' ? part.callId : undefined;
}
