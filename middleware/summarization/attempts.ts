import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { textOf } from '../../contract/messages/messages';
import type { HookContext, ModelResponse } from '../../kernel/define/middleware';
import type { SummarizationOptions, SummaryAttempt, SummaryFailoverAttempt, SummaryRequest } from './options';
import { waitsOf } from '../backoff';
import { isCancellation } from '../../kernel/effects/errors';

type OnAttempt = (model: string, ended: SummaryAttempt) => void;

const defaultRetries = 3;
export const defaultBackoff = waitsOf('summarization', { most: '10s' });

export async function generateSummary(
  options: SummarizationOptions,
  request: SummaryRequest,
  ctx: HookContext,
  onAttempt: OnAttempt,
): Promise<ModelResponse> {
  const { failover } = options;
  let { model } = options;
  let asked = request;
  for (let number = 1; ; number++) {
    const ended = await withRetries(options, model, asked, ctx, onAttempt);
    const { response, error } = ended;
    const failed = error ?? emptyAnswer(ended);
    if (failover === undefined || !(failover.shouldFailover?.({ ...ended, attempt: number }) ?? failed !== undefined)) {
      if (failed === undefined && response !== undefined) return response;
      throw failure(failed?.message ?? 'there is no answer');
    }
    const lastError = failed ?? { code: 'model-response-rejected', message: 'shouldFailover rejected the answer' };
    if (number > (failover.maxRetries ?? defaultRetries)) throw failure(`exceeds max failover attempts: ${lastError.message}`);
    const last = { attempt: number, lastError, ...defined({ lastResponse: response }), request };
    ({ model, asked } = chosen(options, last));
  }
}

function chosen(options: SummarizationOptions, last: SummaryFailoverAttempt): { readonly model: string; readonly asked: SummaryRequest } {
  const { attempt, request } = last;
  const choose = options.failover?.getFailoverModel;
  if (choose === undefined) return { model: options.model, asked: request };
  let choice: unknown;
  try {
    choice = choose(last);
  } catch (error) {
    throw failure(`getFailoverModel failed at attempt ${attempt}: ${messageOf(error)}`);
  }
  const { model, messages } = (choice ?? {}) as Partial<Pick<SummaryRequest, 'messages'> & { readonly model: string }>;
  if (typeof model !== 'string' || model === '') throw failure(`getFailoverModel returned no model at attempt ${attempt}`);
  if (messages === undefined) return { model, asked: request };
  if (!Array.isArray(messages) || messages.length === 0) throw failure(`getFailoverModel returned no messages at attempt ${attempt}`);
  return { model, asked: { ...request, messages } };
}

async function withRetries(
  options: SummarizationOptions,
  model: string,
  request: SummaryRequest,
  ctx: HookContext,
  onAttempt: OnAttempt,
): Promise<SummaryAttempt> {
  const { retry } = options;
  for (let attempt = 1; ; attempt++) {
    const ended = await oneCall(options, model, request, ctx, attempt);
    onAttempt(model, ended);
    if (retry === undefined || !(retry.shouldRetry?.(ended) ?? (ended.error ?? emptyAnswer(ended)) !== undefined)) return ended;
    if (attempt > (retry.maxRetries ?? defaultRetries)) {
      const last = ended.error ?? emptyAnswer(ended) ?? { code: 'model-response-rejected', message: 'shouldRetry rejected the answer' };
      return { ...ended, error: { code: last.code, message: `exceeds max retries: ${last.message}` } };
    }
    const wait = retry.backoff?.(attempt) ?? defaultBackoff(attempt, () => ctx.random());
    if (typeof wait !== 'number' || !(wait >= 0)) throw failure(`backoff returned ${String(wait)}; it is a number of milliseconds`);
    if (wait > 0) await ctx.sleep(`${Math.ceil(wait)}ms`);
  }
}

const final: readonly string[] = ['frame-changed', 'next-left-running', 'outside-run', 'internal', 'payload-too-large', 'message-invalid'];

async function oneCall(
  { settings, retry, failover }: SummarizationOptions,
  model: string,
  { instructions, messages }: SummaryRequest,
  ctx: HookContext,
  attempt: number,
): Promise<SummaryAttempt> {
  const own = retry !== undefined || failover !== undefined;
  try {
    const request = { instructions, messages, ...defined({ settings }), ...(own ? { retry: false } : {}) };
    return { attempt, response: await ctx.model(model, request) };
  } catch (error) {
    if (isCancellation(error) || final.includes(codeOf(error) ?? '')) throw error;
    return { attempt, error: { code: codeOf(error) ?? 'model-failed', message: messageOf(error) } };
  }
}

function emptyAnswer({ response }: SummaryAttempt): { readonly code: string; readonly message: string } | undefined {
  if (response === undefined || textOf(response.message).trim() !== '') return undefined;
  return { code: 'model-response-empty', message: 'the summary is empty' };
}

function failure(problem: string): HoldfastError {
  return new HoldfastError('hook-failed', `summarization failed to generate summary: ${problem}`);
}
