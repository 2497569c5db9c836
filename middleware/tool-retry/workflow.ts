import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { Failure, Json, ToolCall } from '../../contract/messages/messages';
import { shown } from '../../contract/shown';
import type { AgentMiddleware, HookContext, Tools } from '../../kernel/define/middleware';
import { isToolProblem } from '../../kernel/effects/errors';
import type { Backoff } from '../backoff';
import { answerOr, attemptsForm, backoffForm, waitsOf } from '../backoff';
import { checkOptions, filled, func, isFilled, refusing, someNames } from '../../contract/check';
import { fits, toolCodes } from '../code-options';

export interface ToolRetryOptions<T extends Tools = Tools> {
  /** Only for agents with several for the same tools. */
  readonly name?: string;
  /** Default: every tool. Tools with the effect `once`, or a `retry` of their own, are not called again. */
  readonly tools?: readonly (keyof T & string)[];
  /** Most calls, the first included. Default: 3. */
  readonly attempts?: number;
  readonly backoff?: Backoff;
  /** Codes, or a function. Default: `tool-failed` and `tool-timeout`. */
  readonly retryOn?: readonly string[] | ((problem: Failure, call: ToolCall) => boolean);
  /** The reason for another call after a result, or true. Undefined takes the result. */
  readonly retryResult?: (result: Json, call: ToolCall) => string | boolean | undefined;
  /** `error` (default): the last error or result stands. `answer`: the text of a result. */
  readonly whenExhausted?: 'error' | { readonly answer: string | ((problem: Failure, call: ToolCall) => string) };
}

/**
 * Calls a tool again after a failure, with waits in the run. A tool's own `retry` has no waits and no history.
 * @example
 * export const stubborn = toolRetry<typeof tools>({
 *   tools: ['findOrder'],
 *   attempts: 5,
 *   backoff: { first: '5s', most: '10m' },
 * });
 */
export function toolRetry<T extends Tools = Tools>(options: ToolRetryOptions<T> = {}): AgentMiddleware<T> {
  checkOptions('toolRetry', options, {
    name: filled,
    tools: someNames,
    attempts: attemptsForm,
    backoff: backoffForm,
    retryOn: toolCodes,
    retryResult: func,
    whenExhausted: answerOr('error', 'the error and the call'),
  });
  const { tools, attempts = 3, backoff = {}, retryOn = ['tool-failed', 'tool-timeout'], whenExhausted = 'error' } = options;
  if (attempts === 1 && whenExhausted === 'error')
    refusing('toolRetry')('attempts counts the first call, too: with 1 no tool is called again, and it does nothing. Write 2 or more.');
  const waits = waitsOf('toolRetry', backoff);
  const isWorthIt = fits(retryOn);
  return {
    name: options.name ?? ['toolRetry', ...(tools ?? [])].join('.'),
    ...defined({ onlyTools: tools }),
    async wrapToolCall(call, next, ctx) {
      for (let attempt = 1; ; attempt++) {
        let ended: EndedAttempt;
        try {
          ended = { result: await next(call) };
        } catch (error) {
          const problem = isToolProblem(error) ? { code: codeOf(error) ?? 'tool-failed', message: messageOf(error) } : undefined;
          ended = { error, problem, isRetryable: problem !== undefined && isWorthIt(problem, call) };
        }
        if (ended.result !== undefined) ended = { ...ended, ...rejected(options.retryResult?.(ended.result, call)) };
        const { problem } = ended;
        if (problem === undefined || !isOurs(ctx, call.name)) return settled(ended);
        if (attempt < attempts && ended.isRetryable === true) {
          const wait = waits(attempt, () => ctx.random());
          await ctx.sleep(`${Math.max(1, wait)}ms`);
          continue;
        }
        return whenExhausted === 'error' ? settled(ended) : answerFor(whenExhausted.answer, problem, call);
      }
    },
  };
}

interface EndedAttempt {
  readonly result?: Json;
  readonly error?: unknown;
  readonly problem?: Failure | undefined;
  readonly isRetryable?: boolean;
}

function settled({ result, error }: EndedAttempt): Json {
  if (result === undefined) throw error;
  return result;
}

function rejected(said: unknown): EndedAttempt {
  if (said === undefined || said === null || said === false) return {};
  if (said !== true && !isFilled(said))
    throw new HoldfastError('hook-failed', `retryResult of toolRetry returned ${shown(said)}; it returns a reason, true or nothing.`);
  const message = said === true ? 'The result is not what was wanted.' : said;
  return { problem: { code: 'tool-failed', message }, isRetryable: true };
}

/** A failed `once` tool may have done its work, and `retry` has called again already. */
function isOurs(ctx: HookContext, tool: string): boolean {
  const facts = ctx.toolFacts(tool);
  return facts?.effect !== 'once' && facts?.ownAttempts === undefined;
}

function answerFor(answer: string | ((problem: Failure, call: ToolCall) => string), problem: Failure, call: ToolCall): Json {
  const text: unknown = typeof answer === 'string' ? answer : answer(problem, call);
  if (typeof text === 'string') return text;
  throw new HoldfastError('hook-failed', `whenExhausted.answer of toolRetry returned ${typeof text}; it returns a text.`);
}
