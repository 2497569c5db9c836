import { tool } from '@ai-sdk/provider-utils';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { ScriptedStep } from 'holdfast/testing';
import { defineTool } from 'holdfast/worker';
import type { AgentMiddleware, Json, Message } from 'holdfast/workflow';
import { approval } from 'holdfast/middleware';
import { z } from 'zod';
import { ToolRegistry } from '../../../activities/tools/tools';
import { errorSaying, failureSaying } from '../../support/failures';
import { agentWith, echo, linesOf, tools, transcriptOf } from '../../support/memory-bed';

const pickColor = defineTool({ description: 'Lets the user pick.', inputSchema: z.object({ of: z.string() }), external: true });
const all = { ...tools, pickColor };
const color: ScriptedStep = { text: 'Which one?', toolCalls: [{ name: 'pickColor', input: { of: 'car' } }] };
const result = (output: Json): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', callId: 'call-1-1', name: 'pickColor', output }],
});

async function start(options: Parameters<typeof agentWith>[0], input: Json, ...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps);
  const agent = agentWith({ tools: ['echo', 'pickColor'], ...options });
  return { model, run: await testRun(agent, { input, model, tools: all, outputs: { hue: z.object({ hue: z.number() }) } }) };
}

describe('an external tool', () => {
  it('is offered like others, and leaves a run without a result', async () => {
    const { run, model } = await start({}, 'Hi', color);
    await expect(run.result()).rejects.toMatchObject(errorSaying('tool-calls-pending', "'pickColor'"));
    expect(await run.view()).toMatchObject({ status: 'completed', text: 'Which one?', pendingToolCalls: [{ name: 'pickColor' }] });
    expect(model.requests[0]?.tools).toContainEqual(expect.objectContaining({ name: 'pickColor', description: 'Lets the user pick.' }));
  });

  it('leaves an agent with an output without one, and nothing is corrected', async () => {
    const { run } = await start({ output: 'hue' }, 'Hi', color);
    expect(await run.outcome()).toMatchObject({ status: 'tool-calls-pending', text: 'Which one?' });
  });

  it('ends the run also beside a tool that would end it with its result, and hooks see what ran here', async () => {
    const seen: number[] = [];
    const watching: AgentMiddleware = {
      name: 'watching',
      afterToolCalls: ({ messages }) => void seen.push(messages.length),
      afterAgent: ({ messages }) => void seen.push(messages.length),
    };
    const steps: ScriptedStep = { toolCalls: [echo('here'), { name: 'pickColor', input: { of: 'car' } }] };
    const { run } = await start({ returnDirectly: ['echo'], middleware: [watching] }, 'Hi', steps);
    expect(await run.outcome()).toMatchObject({ status: 'tool-calls-pending', toolCalls: [{ id: 'call-1-2' }] });
    expect(seen).toEqual([3, 3]);
    expect(await linesOf(run)).not.toContain('tool-start pickColor');
  });

  it('is waited for again when a run begins with some of the results', async () => {
    const both: ScriptedStep = {
      toolCalls: [
        { name: 'pickColor', input: { of: 'car' } },
        { name: 'pickColor', input: { of: 'roof' } },
      ],
    };
    const first = await start({}, 'Hi', both);
    const input = [...(await first.run.transcript()), result('red')] as unknown as Json;
    const model = scriptedModel([]);
    const again = await testRun(agentWith({ tools: ['pickColor'] }), { input, model, tools: all, runPendingToolCalls: true });
    expect(await again.outcome()).toMatchObject({ status: 'tool-calls-pending', toolCalls: [{ id: 'call-1-2' }] });
    const whole = await start({}, input, { text: 'Never.' });
    expect(await whole.run.outcome()).toMatchObject(failureSaying('input-invalid'));
  });

  it('is refused in a final answer, like others', async () => {
    const { run } = await start({ maxIterations: { limit: 1, finalize: true } }, 'Hi', color);
    expect(await run.outcome()).toMatchObject(failureSaying('max-iterations'));
  });

  it('cannot be called by a hook', async () => {
    const calling: AgentMiddleware = { name: 'calling', beforeAgent: async (_, ctx) => void (await ctx.call('pickColor', { of: 'car' })) };
    const { run } = await start({ middleware: [calling] }, 'Hi');
    expect(await run.outcome()).toMatchObject(failureSaying('tool-unknown', 'is external'));
  });

  it('cannot be guarded by a layer, which would see none of its calls', async () => {
    const { run } = await start({ middleware: [approval({ tools: { pickColor: true } })] }, 'Hi');
    expect(await run.outcome()).toMatchObject(failureSaying('agent-invalid', /"approval" names the tool "pickColor", which is external/));
  });

  it('may stand in the list beside tools whose calls are guarded', async () => {
    const { run } = await start({ middleware: [approval({ tools: { echo: true } })] }, 'Hi', color);
    expect((await transcriptOf(run)).at(-1)).toMatch(/^assistant: Which one\?/);
    expect(await run.outcome()).toMatchObject({ status: 'tool-calls-pending' });
  });

  it('may be made by the AI SDK', async () => {
    const foreign = tool({ description: 'Lets the user pick.', inputSchema: z.object({ of: z.string() }), outputSchema: z.string() });
    const registry = new ToolRegistry({ foreign: { ...foreign, external: true } });
    await registry.ready();
    expect(registry.factsOf('foreign')).toMatchObject({ external: true });
    expect(registry.specOf('foreign')).toMatchObject({ inputSchema: { properties: { of: { type: 'string' } } } });
  });

  const basics = { description: 'Is odd.', inputSchema: z.object({}) };

  it.each<[string, object, RegExp]>([
    ['an execute', { external: true, execute: () => 1 }, /^Tool "odd": execute is for tools that a worker runs/],
    ['an effect', { external: true, effect: 'once' }, /effect is for tools that a worker runs/],
    ['no yes or no', { external: 'yes' }, /external must be true or false/],
    ['nothing to run it', { external: false }, /no execute function, and no stream\. With `external: true`/],
  ])('with %s ends the start of the worker', (_, fields, message) => {
    expect(() => new ToolRegistry({ odd: { ...basics, ...fields } })).toThrow(message);
  });
});
