import type { FailoverOptions, Json, Message, ModelSettings, RetryOptions } from '../../workflows/index';
import { HoldfastError, agentsFor, sequential, textOf } from '../../workflows/index';

const { defineAgent } = agentsFor();

interface Special {
  readonly retry?: RetryOptions;
  readonly failover?: FailoverOptions;
  readonly tools?: readonly string[];
}

const agent = (name: string, { retry, failover, tools = [] }: Special) =>
  defineAgent({
    name,
    description: 'Under test.',
    instructions: 'Be a test.',
    model: 'test/model',
    tools,
    ...(retry === undefined ? {} : { retry: { backoff: () => 5, ...retry } }),
    ...(failover === undefined ? {} : { failover }),
  });

const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const onError =
  (decide: (settings: ModelSettings, attempt: number) => object): RetryOptions['shouldRetry'] =>
  ({ error, settings, attempt }) =>
    error === undefined ? undefined : { retry: true, ...decide(settings, attempt) };
const rejecting =
  (more: object = {}): RetryOptions['shouldRetry'] =>
  ({ output }) =>
    output !== undefined && textOf(output).startsWith('Bad') ? { retry: true, ...more } : { retry: false };
const toOther = { maxRetries: 1, shouldFailover: () => true, getFailoverModel: () => ({ model: 'test/other' }) };

export const triesOnce = agent('triesOnce', { retry: { maxRetries: 1 } });
export const triesTwice = agent('triesTwice', { retry: { maxRetries: 2 } });
export const triesThrice = agent('triesThrice', { retry: { maxRetries: 3 } });
export const triesWithTools = agent('triesWithTools', { retry: { maxRetries: 3 }, tools: ['echo'] });
export const neverTriesAgain = agent('neverTriesAgain', { retry: { maxRetries: 3, isRetryable: () => false } });
export const restsForLong = agent('restsForLong', { retry: { maxRetries: 3, backoff: () => 3_600_000 } });

/** Long enough for a continue-as-new during the wait. */
export const restsAndAsks = agent('restsAndAsks', { retry: { maxRetries: 2, backoff: () => 2000 }, tools: ['asks'] });

const backoffs: number[] = [];

/** In the sandbox every run has a new list; in memory there is one run. */
export const countsBackoffs = defineAgent({
  name: 'countsBackoffs',
  description: 'Under test.',
  instructions: 'Be a test.',
  model: 'test/model',
  tools: [],
  retry: { maxRetries: 3, backoff: (retry) => backoffs.push(retry) },
  middleware: [{ name: 'noting', wrapModel: (request, next, ctx) => (ctx.sendEvent('note', [...backoffs]), next(request)) }],
});

export const rewritesErrors = agent('rewritesErrors', {
  retry: { maxRetries: 3, shouldRetry: () => ({ retry: false, rewriteError: new Error('Not like this.') }) },
});

export const addsSettings = agent('addsSettings', {
  retry: {
    maxRetries: 3,
    shouldRetry: ({ attempt, settings, error }) =>
      error === undefined
        ? { retry: false, ...(settings.temperature === 0.1 && settings.topK === 5 ? {} : { rewriteError: 'Settings were lost.' }) }
        : { retry: true, rejectReason: settings as Json, additionalSettings: attempt === 1 ? { temperature: 0.1 } : { topK: 5 } },
  },
});

export const changesInput = agent('changesInput', {
  retry: { maxRetries: 1, shouldRetry: onError(() => ({ modifiedInput: [said('Shorter.')] })) },
  tools: ['echo'],
});

export const persistsInput = agent('persistsInput', {
  retry: {
    maxRetries: 1,
    shouldRetry: onError(() => ({
      modifiedInput: [said('Shorter.')],
      persistModifiedInput: true,
      additionalSettings: { temperature: 0 },
    })),
  },
  tools: ['echo'],
});

export const rejectsBad = agent('rejectsBad', { retry: { maxRetries: 1, shouldRetry: rejecting() } });
export const rejectsWithReason = agent('rejectsWithReason', {
  retry: { maxRetries: 1, shouldRetry: rejecting({ rejectReason: { rule: 'politeness' } }) },
});
export const rejectsAndRewrites = agent('rejectsAndRewrites', {
  retry: { maxRetries: 1, shouldRetry: rejecting({ rewriteError: 'ignored' }) },
});

export const repeatsWhatItSaw = agent('repeatsWhatItSaw', {
  retry: {
    maxRetries: 1,
    shouldRetry: ({ attempt, output, error }) =>
      error === undefined
        ? undefined
        : { retry: true, rejectReason: { attempt, said: output === undefined ? null : textOf(output), error: error.message } },
  },
});

export const decidesNothing = agent('decidesNothing', { retry: { maxRetries: 1, shouldRetry: () => null } });
export const hasNoRetries = agent('hasNoRetries', { retry: { maxRetries: 0, shouldRetry: () => ({ retry: true }) } });

export const throwsDecision = agent('throwsDecision', {
  retry: {
    maxRetries: 1,
    shouldRetry: () => {
      throw new Error('out of order');
    },
  },
});

export const triesEverything = agent('triesEverything', {
  retry: { maxRetries: 3, shouldRetry: () => ({ retry: true }) },
  failover: toOther,
});

export const goesToOther = agent('goesToOther', { failover: toOther });

export const asksAboutAborts = agent('asksAboutAborts', {
  failover: { ...toOther, shouldFailover: (_, { message }) => message === 'context canceled' },
});
export const asksAboutHalves = agent('asksAboutHalves', {
  failover: { ...toOther, shouldFailover: (output) => output !== undefined && textOf(output) === 'p1p2' },
});

export const choosesNone = agent('choosesNone', { failover: { ...toOther, maxRetries: 2, getFailoverModel: () => undefined } });
export const throwsChoice = agent('throwsChoice', {
  failover: {
    ...toOther,
    maxRetries: 2,
    getFailoverModel: () => {
      throw new HoldfastError('model-unknown', 'There is no other model.');
    },
  },
});

export const triesThenOther = agent('triesThenOther', {
  retry: { maxRetries: 1 },
  failover: {
    ...toOther,
    getFailoverModel: ({ lastError }) =>
      lastError.code === 'model-retries-exhausted' && lastError.lastError?.message === 'The line is dead.'
        ? { model: 'test/other' }
        : undefined,
  },
});
export const neverTriesThenOther = agent('neverTriesThenOther', {
  retry: { maxRetries: 3, isRetryable: () => false },
  failover: toOther,
});
export const rejectsThenOther = agent('rejectsThenOther', { retry: { maxRetries: 1, shouldRetry: rejecting() }, failover: toOther });

const next = agent('next', {});
export const triesThenNext = sequential({ name: 'triesThenNext', agents: [triesThrice, next] });
export const neverThenNext = sequential({ name: 'neverThenNext', agents: [neverTriesAgain, next] });
export const plainThenNext = sequential({ name: 'plainThenNext', agents: [agent('withoutRetry', {}), next] });
