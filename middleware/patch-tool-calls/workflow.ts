import type { MaybePromise } from '../../contract/maybe-promise';
import { HoldfastError } from '../../contract/errors';
import type { Language } from '../../contract/manifest';
import type { Message } from '../../contract/messages/messages';
import type { AgentMiddleware, HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { checkOptions, func } from '../../contract/check';
import { resultsByCall, toolRounds } from '../tool-rounds';

export interface PatchToolCallsOptions {
  /** Text of a missing result. Default: the call was canceled. */
  readonly content?: (tool: string, callId: string, ctx: HookContext) => MaybePromise<string>;
}

/**
 * Adds missing results to tool calls for good, as providers refuse a call without a result.
 * @example
 * export const patched = patchToolCalls({
 *   content: (tool, callId) => `Nobody knows what became of ${tool} (${callId}).`,
 * });
 */
export function patchToolCalls(options?: PatchToolCallsOptions): AgentMiddleware {
  const { content } = checkOptions<PatchToolCallsOptions>('patchToolCalls', options, { content: func });
  const middleware: AgentMiddleware = {
    name: 'patchToolCalls',
    async beforeModelRewriteState({ messages }, ctx) {
      const added = new Map<number, readonly Message[]>();
      for (const round of toolRounds(messages)) {
        const results: Message[] = [];
        for (const [{ id, name }, result] of resultsByCall(round))
          if (result === undefined) {
            const text = await (content === undefined ? texts[ctx.language](name, id) : content(ctx.nameOfTool(name), id, ctx));
            results.push(resultOf(id, name, text));
          }
        if (results.length > 0) added.set(round.at, results);
      }
      return added.size === 0 ? undefined : { messages: messages.flatMap((message, at) => [message, ...(added.get(at) ?? [])]) };
    },
  };
  return withTraits(middleware, { onlyOne: 'The first one leaves nothing for a second one to do; keep one of them.', offersTools: [] });
}

const texts: Readonly<Record<Language, (tool: string, callId: string) => string>> = {
  en: (tool, callId) => `Tool call ${tool} with id ${callId} was canceled - another message came in before it could be completed.`,
  zh: (tool, callId) => `工具调用 ${tool}(ID 为 ${callId})已被取消——在其完成之前收到了另一条消息。`,
};

function resultOf(callId: string, name: string, output: unknown): Message {
  if (typeof output !== 'string')
    throw new HoldfastError(
      'hook-failed',
      `content of patchToolCalls returned ${typeof output} for the call "${callId}"; it is to return a text.`,
    );
  return { role: 'tool', parts: [{ type: 'tool-result', callId, name, output }] };
}
