import { testRun } from 'holdfast/testing';
import type { FailoverOptions, Message, ModelError, RetryAttempt, RetryDecision, RetryOptions } from 'holdfast/workflow';
import { HoldfastError, textOf } from 'holdfast/workflow';
import { z } from 'zod';
import { defineTool } from '../../activities/tools';
import type { RunEvent } from '../../contract/plain/events';
import type { TestRun } from '../../testing/index';
import { agentWith, gate, logOf, only, tools } from '../support/memory-bed';
import type { AskedModel, Said } from '../support/streaming-model';
import { broken, modelsSaying, sayingModel, shortDelta } from '../support/streaming-model';

/*
 * Eino, model retry and failover (5.4 of the table). A message event of the original is `model-end` here, a stream that ends with
 * WillRetryError is deltas that become void and the event `model-retry`. Cases 92 and 93 need workflow agents.
 */

interface Played {
  readonly run: TestRun;
  readonly model: AskedModel;
  readonly events: readonly RunEvent[];
  readonly deltas: readonly string[];
  readonly outcome: Awaited<ReturnType<TestRun['outcome']>>;
  readonly ends: readonly string[];
  readonly retries: readonly Extract<RunEvent, { type: 'model-retry' }>[];
}

interface Plan {
  readonly retry?: RetryOptions;
  readonly failover?: FailoverOptions;
  readonly stream?: boolean;
  readonly tools?: readonly string[];
}

/** Plays a run to where it stands still, with an hour for all that sleeps. */
async function play(model: AskedModel, { retry, failover, stream = true, tools: named = [] }: Plan): Promise<Played> {
  const deltas: string[] = [];
  const agent = agentWith({ tools: named, ...(retry === undefined ? {} : { retry }), ...(failover === undefined ? {} : { failover }) });
  const run = await testRun(agent, { input: 'Hi', model, tools, stream, onDelta: (delta) => deltas.push(shortDelta(delta)) });
  await run.advance('1h');
  return { run, model, deltas, ...(await seen(run)) };
}

async function seen(run: TestRun): Promise<Pick<Played, 'events' | 'outcome' | 'ends' | 'retries'>> {
  const events = await logOf(run);
  return {
    events,
    outcome: await run.outcome(),
    ends: events.flatMap((event) => (event.type === 'model-end' ? [textOf(event.message)] : [])),
    retries: events.filter((event) => event.type === 'model-retry'),
  };
}

const texts = (messages: readonly Message[] | undefined): readonly string[] => (messages ?? []).map(textOf);
const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const rejecting = (when: (text: string) => boolean, more: Partial<RetryDecision> = {}): RetryOptions['shouldRetry'] => {
  return ({ output }) => (output !== undefined && when(textOf(output)) ? { retry: true, ...more } : { retry: false });
};
const retryAll = (maxRetries: number): RetryOptions => ({ maxRetries });
const to = (model: string, maxRetries = 1): FailoverOptions => ({
  maxRetries,
  shouldFailover: () => true,
  getFailoverModel: () => ({ model }),
});

describe('retry', () => {
  it('[eino 83] two failures and an answer are one message in three calls', async () => {
    const model = sayingModel([broken()], [broken()], ['Good.']);
    const { ends, outcome } = await play(model, { retry: retryAll(3), stream: false });
    expect(ends).toEqual(['Good.']);
    expect(model.asked).toHaveLength(3);
    expect(outcome).toMatchObject({ status: 'completed', output: 'Good.' });
  });

  it.each([
    ['with tools', ['echo']],
    ['without tools', []],
  ])('[eino 84] of streams that break off the reader sees each, and that it will be made again, %s', async (_, named) => {
    const model = sayingModel(['One', broken()], ['Two', broken()], ['Good.']);
    const { deltas, retries, ends } = await play(model, { retry: retryAll(3), tools: named });
    expect(deltas).toEqual(['start', 'One', 'void', 'start', 'Two', 'void', 'start', 'Good.']);
    expect(retries.map(({ attempt, error }) => [attempt, error.message])).toEqual([
      [0, 'The line is dead.'],
      [1, 'The line is dead.'],
    ]);
    expect(ends).toEqual(['Good.']);
  });

  it('[eino 86] without an answer the run fails, with the number of calls and the last error', async () => {
    const model = sayingModel([broken('first')], [broken('second')], [broken('third')]);
    const { outcome, ends } = await play(model, { retry: retryAll(2) });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'model-retries-exhausted' } });
    expect((outcome as { error: { message: string } }).error.message).toMatch(/exceeds max retries: .* in 3 calls\. .*third/);
    expect(ends).toEqual([]);
  });

  it('[eino 87] backoff is asked with the number of the retry', async () => {
    const asked: number[] = [];
    const backoff = (retry: number): number => asked.push(retry);
    await play(sayingModel([broken()], [broken()], ['Good.']), { retry: { maxRetries: 3, backoff } });
    expect(asked).toEqual([1, 2]);
  });

  it('[eino 88] without a configuration the error is the original one, after one call', async () => {
    const model = sayingModel([broken('No.', false)]);
    const { outcome } = await play(model, { stream: false });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: 'No.' } });
    expect(model.asked).toHaveLength(1);
  });

  it('[eino 89] an error that is not worth a retry ends its stream, and the run', async () => {
    const model = sayingModel(['Half', broken('No.')]);
    const { deltas, outcome, retries } = await play(model, { retry: { maxRetries: 3, isRetryable: () => false } });
    expect(deltas).toEqual(['start', 'Half', 'void']);
    expect(retries).toEqual([]);
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: 'No.' } });
    expect(model.asked).toHaveLength(1);
  });

  it('[eino 91] without a predicate every error is retried', async () => {
    const model = sayingModel([broken('never again', false)], ['Good.']);
    expect((await play(model, { retry: retryAll(1) })).ends).toEqual(['Good.']);
  });

  it('[eino 94] a stream that failed stays out of what goes over a border, in a backoff and in a later interrupt', async () => {
    const asking = defineTool({
      description: 'Asks.',
      inputSchema: z.object({}),
      execute: (_, call) => (call.resumed === undefined ? call.interrupt('Sure?') : String(call.resumed.answer)),
    });
    const model = sayingModel(['Half', broken()], [{ tool: 'asking', input: {} }], ['Good.']);
    const agent = agentWith({ tools: ['asking'], retry: retryAll(2) });
    const run = await testRun(agent, { input: 'Hi', model, tools: { asking } });
    await run.outcome();
    await run.goOnAsNew();
    expect(model.asked).toHaveLength(1);
    await run.advance('1m');
    await run.goOnAsNew();
    await run.resume(only(await run.interrupts()).id, 'yes');
    expect(await run.result()).toBe('Good.');
    expect(model.asked).toHaveLength(3);
    expect(JSON.stringify(await run.transcript())).not.toContain('Half');
  });

  it.each([
    ['OnMessage', ['Bad.']],
    ['OnError', [broken()]],
  ] as readonly (readonly [string, readonly Said[]])[])(
    '[eino 96] the run fails with the error that shouldRetry says instead, %s',
    async (_, answer) => {
      const retry: RetryOptions = { maxRetries: 3, shouldRetry: () => ({ retry: false, rewriteError: new Error('Not like this.') }) };
      const { outcome, ends } = await play(sayingModel(answer), { retry, stream: false });
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'model-failed', message: 'Not like this.' } });
      expect(ends).toEqual([]);
    },
  );

  it('[eino 97] additional settings add up from retry to retry', async () => {
    const more = [{ temperature: 0.1 }, { topK: 5 }];
    const seenBy: object[] = [];
    const retry: RetryOptions = {
      maxRetries: 3,
      shouldRetry: ({ attempt, settings, error }) => {
        seenBy.push(settings);
        return error === undefined ? undefined : { retry: true, additionalSettings: more[attempt - 1] ?? {} };
      },
    };
    const model = sayingModel([broken()], [broken()], ['Good.']);
    await play(model, { retry, stream: false });
    expect(model.asked.map(({ settings }) => settings)).toEqual([{}, { temperature: 0.1 }, { temperature: 0.1, topK: 5 }]);
    expect(seenBy).toEqual([{}, { temperature: 0.1 }, { temperature: 0.1, topK: 5 }]);
  });

  it('[eino 98] modified input is seen by the retry alone', async () => {
    const retry: RetryOptions = {
      maxRetries: 1,
      shouldRetry: ({ error }) => (error === undefined ? undefined : { retry: true, modifiedInput: [said('Shorter.')] }),
    };
    const model = sayingModel([broken()], [{ tool: 'echo', input: { text: 'x' } }], ['Good.']);
    const { run } = await play(model, { retry, tools: ['echo'] });
    expect(model.asked.map(({ messages }) => texts(messages).slice(0, 1))).toEqual([['Hi'], ['Shorter.'], ['Hi']]);
    expect(texts(await run.transcript())[0]).toBe('Hi');
  });

  it('[eino 99] persisted input replaces the messages, with settings in the same decision', async () => {
    const retry: RetryOptions = {
      maxRetries: 1,
      shouldRetry: ({ error }) =>
        error === undefined
          ? undefined
          : { retry: true, modifiedInput: [said('Shorter.')], persistModifiedInput: true, additionalSettings: { temperature: 0 } },
    };
    const model = sayingModel(['Half', broken()], [{ tool: 'echo', input: { text: 'x' } }], ['Good.']);
    const { run } = await play(model, { retry, tools: ['echo'] });
    expect(model.asked.map(({ messages }) => texts(messages)[0])).toEqual(['Hi', 'Shorter.', 'Shorter.']);
    expect(model.asked.map(({ settings }) => settings)).toEqual([{}, { temperature: 0 }, {}]);
    expect(texts(await run.transcript())).toEqual(['Shorter.', '', '', 'Good.']);
  });

  it('[eino 101] of whole answers only the accepted one is an event', async () => {
    const retry = { maxRetries: 1, shouldRetry: rejecting((text) => text === 'Bad.') } as RetryOptions;
    expect((await play(sayingModel(['Bad.'], ['Good.']), { retry, stream: false })).ends).toEqual(['Good.']);
    expect((await play(sayingModel(['Good.']), { retry, stream: false })).ends).toEqual(['Good.']);
    const none = await play(sayingModel(['Bad.'], ['Bad.']), { retry, stream: false });
    expect(none.ends).toEqual([]);
    expect(none.outcome).toMatchObject({ status: 'failed', error: { code: 'model-retries-exhausted' } });
  });

  it('[eino 102] a run that is cancelled in a backoff ends at once, after one call', async () => {
    const model = sayingModel([broken()], ['Good.']);
    const run = await testRun(agentWith({ retry: { maxRetries: 3, backoff: () => 3_600_000 } }), { input: 'Hi', model, tools });
    expect((await run.outcome()).status).toBe('running');
    await run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(model.asked).toHaveLength(1);
  });

  it('[eino 103] shouldRetry sees what a stream had said, and its error', async () => {
    const asked: RetryAttempt[] = [];
    const retry: RetryOptions = { maxRetries: 1, shouldRetry: (attempt) => void asked.push(attempt) };
    const { outcome } = await play(sayingModel(['One ', 'two', broken()]), { retry });
    expect(asked).toMatchObject([{ attempt: 1, output: { parts: [{ text: 'One two' }] }, error: { message: 'The line is dead.' } }]);
    expect(outcome).toMatchObject({ status: 'failed', error: { message: 'The line is dead.' } });
  });

  it('[eino 104] a whole stream that is rejected will be made again, the next one counts', async () => {
    const retry = { maxRetries: 1, shouldRetry: rejecting((text) => text === 'Bad.') } as RetryOptions;
    const { retries, ends, deltas } = await play(sayingModel(['Bad.'], ['Good.']), { retry });
    expect(retries.map(({ attempt, error }) => [attempt, error.code])).toEqual([[0, 'model-response-rejected']]);
    expect(ends).toEqual(['Good.']);
    expect(deltas).toEqual(['start', 'Bad.', 'start', 'Good.']);
  });

  it('[eino 106] a shouldRetry that throws ends the run, naming it', async () => {
    const retry: RetryOptions = {
      maxRetries: 1,
      shouldRetry: () => {
        throw new Error('out of order');
      },
    };
    expect((await play(sayingModel(['Good.']), { retry })).outcome).toMatchObject({
      status: 'failed',
      error: { code: 'hook-failed', message: 'shouldRetry of agent "agent" failed: out of order' },
    });
  });

  it('[eino 107] nothing returned accepts; no retries and a rejection are exhausted; an error beside retry is ignored', async () => {
    const nothing = await play(sayingModel(['Good.']), { retry: { maxRetries: 1, shouldRetry: () => null } });
    expect(nothing.ends).toEqual(['Good.']);
    const zero = await play(sayingModel(['Bad.']), { retry: { maxRetries: 0, shouldRetry: () => ({ retry: true }) } });
    expect(zero.outcome).toMatchObject({ status: 'failed', error: { code: 'model-retries-exhausted' } });
    const shouldRetry = rejecting((text) => text === 'Bad.', { rewriteError: 'ignored' });
    expect((await play(sayingModel(['Bad.'], ['Good.']), { retry: { maxRetries: 1, shouldRetry } })).ends).toEqual(['Good.']);
  });

  it('[eino 108] the reason of a rejection can be read where the stream ends', async () => {
    const shouldRetry = rejecting((text) => text === 'Bad.', { rejectReason: { rule: 'politeness' } });
    const { retries } = await play(sayingModel(['Bad.'], ['Good.']), { retry: { maxRetries: 1, shouldRetry } });
    expect(retries).toMatchObject([{ rejectReason: { rule: 'politeness' } }]);
  });

  it('[eino 109] a cancelled stream is neither retried nor failed over, and nobody is asked', async () => {
    const never = gate();
    const asked: string[] = [];
    const agent = agentWith({
      retry: { maxRetries: 3, shouldRetry: () => void asked.push('shouldRetry') },
      failover: {
        maxRetries: 1,
        shouldFailover: () => asked.push('shouldFailover') > 0,
        getFailoverModel: () => ({ model: 'test/other' }),
      },
    });
    const model = sayingModel(['Half', never.opened]);
    let half: () => void = () => undefined;
    const streamed = new Promise<void>((resolve) => (half = resolve));
    const run = await testRun(agent, { input: 'Hi', model, tools, onDelta: ({ type }) => (type === 'text-delta' ? half() : undefined) });
    await streamed;
    await run.cancel();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(asked).toEqual([]);
    expect(model.asked).toHaveLength(1);
  });
});

describe('failover', () => {
  it('[eino 111] a model that says it was cancelled, in a run that is not, is asked about', async () => {
    const asked: ModelError[] = [];
    const aborted = Object.assign(new Error('context canceled'), { name: 'AbortError' });
    const failover: FailoverOptions = {
      maxRetries: 1,
      shouldFailover: (_, error) => asked.push(error) > 0,
      getFailoverModel: () => ({ model: 'm2' }),
    };
    const model = modelsSaying((name) => (name === 'm2' ? [['Good.']] : [[aborted]]));
    expect((await play(model, { failover })).ends).toEqual(['Good.']);
    expect(asked).toMatchObject([{ message: 'context canceled' }]);
  });

  it('[eino 112] stops when getFailoverModel throws, or has no model', async () => {
    const stopping = (getFailoverModel: FailoverOptions['getFailoverModel']): Promise<Played> =>
      play(sayingModel([broken('first')]), { failover: { maxRetries: 2, shouldFailover: () => true, getFailoverModel } });
    const thrown = await stopping(() => {
      throw new HoldfastError('model-unknown', 'There is no other model.');
    });
    expect(thrown.outcome).toMatchObject({ status: 'failed', error: { code: 'model-unknown', message: 'There is no other model.' } });
    expect((await stopping(() => undefined)).outcome).toMatchObject({
      status: 'failed',
      error: { code: 'model-failover-invalid', message: 'getFailoverModel of agent "agent" returned no model at attempt 1.' },
    });
  });

  it('[eino 113] a stream that breaks off is shown to shouldFailover, and the answer is of the second model alone', async () => {
    const asked: (Message | undefined)[] = [];
    const failover: FailoverOptions = {
      maxRetries: 1,
      shouldFailover: (output) => asked.push(output) > 0,
      getFailoverModel: () => ({ model: 'm2' }),
    };
    const model = modelsSaying((name) => (name === 'm2' ? [['Good.']] : [['p1', 'p2', broken()]]));
    const { deltas, ends, retries } = await play(model, { failover });
    expect(texts(asked as Message[])).toEqual(['p1p2']);
    expect(deltas).toEqual(['start', 'p1', 'p2', 'void', 'start', 'Good.']);
    expect(ends).toEqual(['Good.']);
    expect(retries).toMatchObject([{ attempt: 0, failover: { attempt: 1, model: 'm2' } }]);
  });

  it('[eino 114] a run that is cancelled while a stream breaks off asks nobody and no other model', async () => {
    const asked: string[] = [];
    const cancelled = gate();
    const failover: FailoverOptions = {
      maxRetries: 1,
      shouldFailover: () => asked.push('shouldFailover') > 0,
      getFailoverModel: () => ({ model: 'm2' }),
    };
    const model = sayingModel([cancelled.opened, broken()]);
    const run = await testRun(agentWith({ failover }), { input: 'Hi', model, tools });
    while (model.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await run.cancel();
    cancelled.open();
    expect((await run.outcome()).status).toBe('cancelled');
    expect(asked).toEqual([]);
    expect(model.asked).toHaveLength(1);
  });

  it('[eino 116] each model has its own retries, and the last error is that they are exhausted', async () => {
    const errors: ModelError[] = [];
    const model = modelsSaying(() => [[broken()], [broken()], [broken()]]);
    const failover: FailoverOptions = {
      maxRetries: 1,
      shouldFailover: () => true,
      getFailoverModel: ({ lastError }) => {
        errors.push(lastError);
        return { model: 'm2' };
      },
    };
    const { outcome } = await play(model, { retry: retryAll(1), failover, stream: false });
    expect(model.names).toEqual(['test/model', 'test/model', 'm2', 'm2']);
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'model-retries-exhausted' } });
    expect(errors).toMatchObject([{ code: 'model-retries-exhausted', lastError: { message: 'The line is dead.' } }]);
  });

  it('[eino 117] a retry that works asks for no other model', async () => {
    const model = sayingModel([broken()], ['Good.']);
    const { ends } = await play(model, { retry: retryAll(1), failover: to('m2') });
    expect(ends).toEqual(['Good.']);
    expect(model.names).toEqual(['test/model', 'test/model']);
  });

  it('[eino 117] an error that is not worth a retry goes to the next model at once', async () => {
    const model = modelsSaying((name) => (name === 'm2' ? [['Good.']] : [[broken()]]));
    const { ends } = await play(model, { retry: { maxRetries: 3, isRetryable: () => false }, failover: to('m2') });
    expect(ends).toEqual(['Good.']);
    expect(model.names).toEqual(['test/model', 'm2']);
  });

  it.each([true, false])('[eino 117] content that is rejected too often goes to the next model, streaming: %s', async (stream) => {
    const shouldRetry = rejecting((text) => text.startsWith('bad'));
    const model = modelsSaying((name) => (name === 'm2' ? [['good from m2']] : [['bad one'], ['bad two']]));
    const { ends } = await play(model, { retry: { maxRetries: 1, shouldRetry }, failover: to('m2'), stream });
    expect(ends).toEqual(['good from m2']);
    expect(model.names).toEqual(['test/model', 'test/model', 'm2']);
  });
});
