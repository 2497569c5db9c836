import { scriptedModel } from 'holdfast/testing';
import type { ScriptedStep } from 'holdfast/testing';
import { defineWorkerMiddleware } from 'holdfast/worker';
import { onWorker } from 'holdfast/workflow';
import type { AgentMiddleware, IterationLimit } from 'holdfast/workflow';
import { z } from 'zod';
import { textOf } from '../../../contract/messages/messages';
import { failureSaying } from '../../support/failures';
import { agentWith, echo, linesOf, only, startRun, transcriptOf } from '../../support/memory-bed';

const calls = (text: string): ScriptedStep => ({ toolCalls: [echo(text)] });
const exit: ScriptedStep = { toolCalls: [{ name: 'exit', input: { final_result: 'Out.' } }] };
const told = { limit: 1, finalize: 'Answer now.' };

async function start(options: Parameters<typeof agentWith>[0], ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const run = await startRun(agentWith(options), model, { outputs: { point: z.object({ x: z.number() }) } });
  return { run, model, outcome: await run.outcome() };
}

const lastOf = ({ model }: Awaited<ReturnType<typeof start>>, call: number): string => {
  const last = model.requests[call]?.messages.at(-1);
  return last === undefined ? '' : `${last.role}: ${textOf(last)}`;
};

describe('maxIterations', () => {
  it('with a limit alone is the same as the number', async () => {
    const { outcome } = await start({ maxIterations: { limit: 1 } }, calls('a'));
    expect(outcome).toMatchObject(failureSaying('max-iterations', 'the model was called 1 times'));
  });

  it('has words of its own for the last call', async () => {
    const started = await start({ maxIterations: { limit: 2, finalize: true } }, calls('a'), { text: 'Here.' });
    expect(started.outcome).toMatchObject({ text: 'Here.' });
    expect(lastOf(started, 1)).toMatch(/^user: This is your last turn, .* Give your final answer now/);
  });

  it('refuses calls of tools in the last call, also those that a hook adds', async () => {
    const adding: AgentMiddleware = {
      name: 'adding',
      afterModelRewriteState: ({ messages }) => ({
        messages: [...messages, { role: 'assistant', parts: [{ type: 'tool-call', id: 'x', name: 'echo', input: { text: 'x' } }] }],
      }),
    };
    for (const { outcome, run } of [
      await start({ maxIterations: told }, calls('a')),
      await start({ maxIterations: told, middleware: [adding] }, { text: 'Here.' }),
    ]) {
      expect(outcome).toMatchObject(failureSaying('max-iterations', /max LLM calls \(1\) exceeded\. The model .* and calls 'echo'\./));
      expect((await linesOf(run)).filter((line) => line.startsWith('tool-'))).toEqual([]);
    }
  });

  it.each([true, false])('does not let a worker middleware put the tools back (stream: %s)', async (stream) => {
    const model = scriptedModel([{ text: 'Here.' }]);
    const half = defineWorkerMiddleware('half', () => ({
      wrapModel: {
        generate: (request, next) => next({ ...request, tools: ['echo'], settings: { toolChoice: 'required', seed: 7 }, messages: [] }),
        stream: (request, next) => next({ ...request, tools: ['echo'], settings: { toolChoice: 'required', seed: 7 }, messages: [] }),
      },
    }));
    const agent = agentWith({ maxIterations: told, middleware: [onWorker('half')] });
    await (await startRun(agent, model, { stream, middleware: [half] })).outcome();
    const [request] = model.requests;
    expect(request).toMatchObject({ tools: [], settings: { seed: 7 }, messages: [{ role: 'user', parts: [{ text: 'Answer now.' }] }] });
    expect(request?.settings).not.toHaveProperty('toolChoice');
  });

  it('shows layers the last call without tools, and not what the model is told', async () => {
    const seen: unknown[] = [];
    const watching: AgentMiddleware = {
      name: 'watching',
      wrapModel: (request, next) => {
        seen.push([request.tools, request.settings, request.messages.length]);
        return next(request);
      },
    };
    await start({ maxIterations: told, settings: { toolChoice: 'auto', seed: 1 }, middleware: [watching] }, { text: 'Here.' });
    expect(seen).toEqual([[[], { seed: 1 }, 1]]);
  });

  it('tells it in every attempt of the last call, and never in the transcript', async () => {
    const retry = {
      maxRetries: 1,
      shouldRetry: ({ attempt, input }: { attempt: number; input: readonly unknown[] }) =>
        attempt === 1
          ? { retry: true, modifiedInput: input as never, persistModifiedInput: true, additionalSettings: { toolChoice: 'auto' } }
          : undefined,
    };
    const started = await start({ maxIterations: told, retry }, { text: 'No.' }, { text: 'Here.' });
    await started.run.advance('1m');
    expect(await started.run.outcome()).toMatchObject({ text: 'Here.' });
    expect([0, 1].map((call) => lastOf(started, call))).toEqual(['user: Answer now.', 'user: Answer now.']);
    expect(started.model.requests[1]?.settings).toEqual({});
    expect(await transcriptOf(started.run)).toEqual(['user: Hi', 'assistant: Here.']);
  });

  it('leaves no call for a correction of the last answer', async () => {
    const { outcome } = await start({ maxIterations: told, output: 'point' }, { text: 'no json' });
    expect(outcome).toMatchObject(failureSaying('max-iterations', 'max LLM calls (1) exceeded'));
  });
});

describe('maxToolIterations', () => {
  it('lets the model answer without tools once they are used up', async () => {
    const started = await start({ maxToolIterations: { limit: 2, finalize: true } }, calls('a'), calls('b'), { text: 'Here.' });
    expect(started.outcome).toMatchObject({ text: 'Here.' });
    expect(started.model.requests.map(({ tools: offered }) => offered.length)).toEqual([3, 3, 0]);
    expect(lastOf(started, 2)).toMatch(/^user: You have used your tools as often as you may\./);
    expect(await transcriptOf(started.run)).not.toContain(lastOf(started, 2));
  });

  it('refuses calls of tools in that answer', async () => {
    const { outcome } = await start({ maxToolIterations: told }, calls('a'), calls('b'));
    expect(outcome).toMatchObject(failureSaying('max-tool-iterations', /max tool iterations \(1\) exceeded\. .* and calls 'echo'\./));
  });

  it('asks for a correction of that answer without tools, too', async () => {
    const started = await start({ maxToolIterations: told, output: 'point' }, calls('a'), { text: 'no json' }, { text: '{"x":1}' });
    expect(started.outcome).toMatchObject({ output: { x: 1 } });
    expect(started.model.requests.map(({ tools: offered }) => offered.length)).toEqual([3, 0, 0]);
    expect(lastOf(started, 2)).toBe('user: Answer now.');
  });

  it('counts a message once, however many calls it has', async () => {
    const { outcome } = await start(
      { maxToolIterations: 1 },
      { toolCalls: [echo('a'), echo('b'), { name: 'missing', input: {} }] },
      { text: 'Here.' },
    );
    expect(outcome).toMatchObject({ text: 'Here.' });
  });

  it('does not count the way out', async () => {
    const { outcome } = await start({ maxToolIterations: 1, exitTool: true }, calls('a'), exit);
    expect(outcome).toMatchObject({ status: 'completed', output: 'Out.' });
  });

  it('counts on over a continue-as-new', async () => {
    const stopping: AgentMiddleware = { name: 'stopping', afterToolCalls: async (_, ctx) => void (await ctx.interrupt('Go?')) };
    const { run } = await start({ maxToolIterations: 2, middleware: [stopping] }, calls('a'), calls('b'), calls('c'));
    for (let turn = 0; turn < 2; turn++) {
      await run.goOnAsNew();
      await run.resume(only(await run.interrupts()).id, true);
    }
    expect(await run.outcome()).toMatchObject(failureSaying('max-tool-iterations'));
  });
});

const forms = [0, 1.5, '2', null, {}, { limit: 0 }, { limit: 2, finalize: '' }, { limit: 2, finalize: false }, { limit: 2, most: 2 }];

it.each<unknown>(forms)('a limit that is none is refused when the agent is defined: %j', (limit) => {
  for (const field of ['maxIterations', 'maxToolIterations'])
    expect(() => agentWith({ [field]: limit as IterationLimit })).toThrow(`${field} must be a whole number of at least 1`);
});

describe('a call without a name', () => {
  const nameless: ScriptedStep = { toolCalls: [{ name: ' ', input: {}, id: 'call-7' }] };

  it('is an error that a retry of the agent may ask about', async () => {
    const { run } = await start({ retry: { maxRetries: 1 } }, nameless, { text: 'Here.' });
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Here.' });
    expect(await linesOf(run)).toEqual(['run-start', 'model-start', 'model-retry', 'model-start', 'model-end', 'run-end']);
  });

  it('of the last attempt ends the run', async () => {
    const { outcome } = await start({ retry: { maxRetries: 1, isRetryable: () => false } }, nameless);
    expect(outcome).toMatchObject(failureSaying('model-response-invalid', '"call-7"'));
  });
});
