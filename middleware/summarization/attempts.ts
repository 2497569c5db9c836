import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { textOf } from '../../contract/messages/messages';
import type { HookContext, ModelResponse } from '../../kernel/define/middleware';
import type { SummarizationOptions, SummaryAttempt, SummaryFailoverAttempt, SummaryRequest } from './options';
import { waitsOf } from '../backoff';
import { isCancellation } from '../../kernel/effects/errors';

interface SummaryWork {
  readonly options: SummarizationOptions;
  readonly ctx: HookContext;
  readonly onAttempt: (model: string, ended: SummaryAttempt) => void;
}

const defaultRetries = 3;
export const defaultBackoff = waitsOf('summarization', { most: '10s' });

export async function generateSummary(work: SummaryWork, request: SummaryRequest): Promise<ModelResponse> {
  const { options } = work;
  const { failover } = options;
  let { model } = options;
  let asked = request;
  for (let number = 1; ; number++) {
    const ended = await withRetries(work, model, asked);
    const { response } = ended;
    const failed = problemOf(ended);
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

async function withRetries(work: SummaryWork, model: string, request: SummaryRequest): Promise<SummaryAttempt> {
  const { retry } = work.options;
  const { ctx } = work;
  for (let attempt = 1; ; attempt++) {
    const ended = await oneCall(work, model, request, attempt);
    work.onAttempt(model, ended);
    if (retry === undefined || !(retry.shouldRetry?.(ended) ?? problemOf(ended) !== undefined)) return ended;
    if (attempt > (retry.maxRetries ?? defaultRetries)) {
      const last = problemOf(ended) ?? { code: 'model-response-rejected', message: 'shouldRetry rejected the answer' };
      return { ...ended, error: { code: last.code, message: `exceeds max retries: ${last.message}` } };
    }
    const wait = retry.backoff?.(attempt) ?? defaultBackoff(attempt, () => ctx.random());
    if (typeof wait !== 'number' || !(wait >= 0)) throw failure(`backoff returned ${String(wait)}; it is a number of milliseconds`);
    if (wait > 0) await ctx.sleep(`${Math.ceil(wait)}ms`);
  }
}

const final: readonly string[] = ['frame-changed', 'next-left-running', 'outside-run', 'internal', 'payload-too-large', 'message-invalid'];

async function oneCall({ options, ctx }: SummaryWork, model: string, asked: SummaryRequest, attempt: number): Promise<SummaryAttempt> {
  const { settings, retry, failover } = options;
  const { instructions, messages } = asked;
  const own = retry !== undefined || failover !== undefined;
  try {
    const request = { instructions, messages, ...defined({ settings }), ...(own ? { retry: false } : {}) };
    return { attempt, response: await ctx.model(model, request) };
  } catch (error) {
    if (isCancellation(error) || final.includes(codeOf(error) ?? '')) throw error;
    return { attempt, error: { code: codeOf(error) ?? 'model-failed', message: messageOf(error) } };
  }
}

function problemOf({ response, error }: SummaryAttempt): SummaryAttempt['error'] {
  if (response === undefined || error !== undefined || textOf(response.message).trim() !== '') return error;
  return { code: 'model-response-empty', message: 'the summary is empty' };
}

function failure(problem: string): HoldfastError {
  return new HoldfastError('hook-failed', `summarization failed to generate summary: ${problem}`);
}
