import { notJson } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';
import { frozen } from '../../contract/freeze';
import type { HookContext } from '../../kernel/define/middleware';
import type { Invocation, InvocationState } from './types';

const prefix = 'invocation:';

export function invocationOf(ctx: HookContext): Invocation {
  const { agent, runId, runLocal } = ctx;
  return {
    agent,
    runId,
    get usage() {
      return ctx.usage;
    },
    get userMessage() {
      return ctx.userMessage;
    },
    state: {
      get: (key) => frozen(runLocal.get(`${prefix}${key}`)),
      set: (key, value) => runLocal.set(`${prefix}${key}`, copied(value)),
      delete: (key) => runLocal.delete(`${prefix}${key}`),
    },
    ctx,
  };
}

/**
 * Makes an invocation for a chain by hand. The state lasts as long as the object.
 * @example
 * const invocation = detachedInvocation({ agent: 'support', userMessage: '/ping' });
 * const ping = agentCallbacks().registerBefore(() => ({ customResponse: 'pong' }));
 * console.log(await ping.runBefore({ invocation }));
 */
export function detachedInvocation(of: Partial<Omit<Invocation, 'state' | 'ctx'>> = {}): Invocation {
  return { agent: '', runId: '', usage: { inputTokens: 0, outputTokens: 0 }, userMessage: '', ...of, state: stateInMemory() };
}

function stateInMemory(): InvocationState {
  const values = new Map<string, Json>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, frozen(copied(value))),
    delete: (key) => void values.delete(key),
  };
}

export function thawed(value: Json): Json {
  if (Array.isArray(value)) return value.map(thawed);
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  return Object.fromEntries(Object.entries(value as Record<string, Json>).map(([key, item]) => [key, thawed(item)]));
}

function copied(value: Json): Json {
  return notJson(value) === undefined ? thawed(value) : value;
}

interface StateTypes {
  string: string;
  number: number;
  boolean: boolean;
  list: readonly Json[];
  object: { readonly [key: string]: Json | undefined };
}

/**
 * Reads a value of the invocation's state by key and type. Undefined: the value has another type.
 * @example
 * export const counted = modelCallbacks().registerBefore(({ invocation }) => {
 *   const calls = getStateValue(invocation, 'calls', 'number') ?? 0;
 *   invocation.state.set('calls', calls + 1);
 * });
 */
export function getStateValue<Type extends keyof StateTypes>(
  invocation: Pick<Invocation, 'state'> | null | undefined,
  key: string,
  type: Type,
): StateTypes[Type] | undefined {
  const value = invocation?.state.get(key);
  return value !== undefined && typeOf(value) === type ? (value as StateTypes[Type]) : undefined;
}

function typeOf(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

/**
 * A key of one tool call, so that parallel calls stay apart.
 * @example
 * export const remembered = toolCallbacks()
 *   .registerBefore((call) => call.invocation.state.set(toolStateKey(call, 'input'), call.arguments))
 *   .registerAfter((call) => ({ customResult: call.invocation.state.get(toolStateKey(call, 'input')) ?? null }));
 */
export function toolStateKey(call: { readonly toolName: string; readonly toolCallId: string }, key: string): string {
  return `tool:${call.toolName}:${call.toolCallId === '' ? 'default' : call.toolCallId}:${key}`;
}
