import { defined } from '../../contract/defined';
import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import type { Json, Message } from '../../contract/messages/messages';
import { frozen } from '../../contract/freeze';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { invocationOf } from './invocation';
import type { Plugin } from './plugins';
import { callIdOf, replacedMessages } from './plugins';
import { isCancellation } from '../../kernel/effects/errors';

type Following = Readonly<Record<string, readonly Message[]>>;

/** In run-local values: a continue-as-new may come between a call and `afterToolCalls`. */
const endsKey = (name: string): string => `callbacks:${name}:ends`;
const followsKey = (name: string): string => `callbacks:${name}:follows`;

export function endRunWith(callId: string, name: string, { runLocal }: HookContext): void {
  const ends = (runLocal.get(endsKey(name)) ?? []) as readonly string[];
  runLocal.set(endsKey(name), [...ends, callId]);
}

export function followCall(callId: string, messages: readonly Message[], name: string, { runLocal }: HookContext): void {
  const follows = (runLocal.get(followsKey(name)) ?? {}) as unknown as Following;
  runLocal.set(followsKey(name), { ...follows, [callId]: messages } as unknown as Json);
}

export function behindToolCalls(name: string, plugins: readonly Plugin[]): NonNullable<AgentMiddleware['afterToolCalls']> {
  return async (state, ctx) => {
    const { before, results, behind } = split(state.messages);
    const shown = await replaced(plugins, before, results, ctx);
    const ends = taken(ctx, endsKey(name)) as readonly string[] | undefined;
    const follows = taken(ctx, followsKey(name)) as unknown as Following | undefined;
    const answer = shown.filter((message) => ends?.includes(callIdOf(message) ?? '')).at(-1);
    const following = follows === undefined ? [] : results.flatMap((message) => follows[callIdOf(message) ?? ''] ?? []);
    return {
      ...(shown === results && following.length === 0 ? {} : { messages: [...before, ...shown, ...following, ...behind] }),
      ...defined({ answer }),
    };
  };
}

function taken({ runLocal }: HookContext, key: string): Json | undefined {
  const value = runLocal.get(key);
  if (value !== undefined) runLocal.delete(key);
  return value;
}

function split(messages: readonly Message[]): {
  readonly before: readonly Message[];
  readonly results: readonly Message[];
  readonly behind: readonly Message[];
} {
  const asked = messages.map(({ role }) => role).lastIndexOf('assistant');
  const rest = messages.slice(asked + 1);
  const others = rest.findIndex(({ role }) => role !== 'tool');
  const count = others === -1 ? rest.length : others;
  return { before: messages.slice(0, asked + 1), results: rest.slice(0, count), behind: rest.slice(count) };
}

async function replaced(
  plugins: readonly Plugin[],
  before: readonly Message[],
  results: readonly Message[],
  ctx: HookContext,
): Promise<readonly Message[]> {
  let toolMessages = results;
  const caller = before.at(-1);
  for (const { name, afterToolMessages } of plugins) {
    try {
      const said = await afterToolMessages?.(
        frozen({
          invocation: invocationOf(ctx),
          values: ctx.values,
          messages: [...before, ...toolMessages],
          toolCalls: caller === undefined ? [] : ctx.namedCalls(caller),
          toolMessages,
        }),
      );
      if (said !== undefined && said !== null) toolMessages = replacedMessages(toolMessages, said);
    } catch (error) {
      if (isCancellation(error) || thrownCodeOf(error) !== undefined) throw error;
      throw new HoldfastError('callback-failed', `plugin "${name}": ${messageOf(error)}`, { cause: error });
    }
  }
  return toolMessages;
}
