import { toolCallbacks } from 'holdfast/callbacks';
import type { Json } from 'holdfast/workflow';
import type { ToolCallbacks } from 'holdfast/callbacks';
import { scriptedModel, testRun } from 'holdfast/testing';
import type { TestRun } from 'holdfast/testing';
import { agentUnder, echo, logOf, tools } from '../../support/memory-bed';

const seeing = (): ToolCallbacks =>
  toolCallbacks().registerAfter(({ result, error, invocation }) =>
    invocation.ctx?.sendEvent('seen', { result: result ?? null, error: error?.message ?? null }),
  );

async function seenWith(
  set: ToolCallbacks,
  call: { readonly name: string; readonly input: Json } = echo('whole'),
): Promise<{ readonly seen: readonly Json[]; readonly output: Json; readonly run: TestRun }> {
  const model = scriptedModel([{ toolCalls: [call] }, { text: 'Done.' }]);
  const run = await testRun(agentUnder(set.asMiddleware()), { input: 'Hi', model, tools });
  const log = await logOf(run);
  const part = (await run.transcript()).flatMap(({ parts }) => parts).find(({ type }) => type === 'tool-result');
  return {
    run,
    seen: log.flatMap((event) => (event.type === 'custom' && event.name === 'seen' ? [event.data] : [])),
    output: part?.type === 'tool-result' ? part.output : null,
  };
}

describe('[check 11] a result for callbacks', () => {
  it('is what they see behind the call, and the result itself goes to the model', async () => {
    const set = seeing().registerCallbackResult(({ toolName, arguments: given, result }) => ({
      of: toolName,
      given,
      length: String(result).length,
    }));
    const { seen, output } = await seenWith(set);
    expect(seen).toEqual([{ result: { of: 'echo', given: { text: 'whole' }, length: 5 }, error: null }]);
    expect(output).toBe('whole');
  });

  it('leaves the result to them where it says nothing, and is not asked about an error', async () => {
    expect((await seenWith(seeing().registerCallbackResult(() => undefined))).seen).toEqual([{ result: 'whole', error: null }]);
    const failed = await seenWith(
      seeing().registerCallbackResult(() => 'never'),
      { name: 'fail', input: {} },
    );
    expect(failed.seen).toEqual([{ result: null, error: expect.stringContaining('out of order') }]);
  });

  it('does not stand in the way of a custom result, and goes with a copy of the set; of two the last one counts', async () => {
    const custom = toolCallbacks()
      .registerCallbackResult(() => 'first')
      .registerCallbackResult(() => 'view')
      .registerAfter(({ result }) => ({ customResult: `custom of ${String(result)}` }));
    expect((await seenWith(custom.clone())).output).toBe('custom of view');
    expect((await seenWith(toolCallbacks().append(custom))).output).toBe('custom of view');
  });

  it.each<[string, () => Json, string]>([
    [
      'throws',
      () => {
        throw new Error('no view');
      },
      'tool callback error: no view',
    ],
    ['gives no JSON', () => new Map() as never, 'tool callback error: the result for callbacks of the tool "echo" is not JSON'],
  ])('that %s goes back to the model as the error of a callback', async (_, view, message) => {
    const { output, run } = await seenWith(seeing().registerCallbackResult(view));
    expect(String(output)).toContain(message);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('is there for a chain that is called by hand, and is taken back behind it', async () => {
    const seen: Json[] = [];
    const set = toolCallbacks()
      .registerAfter(({ result }) => void seen.push(result ?? null))
      .registerCallbackResult(() => 'view');
    const args = { toolName: 'echo', toolCallId: '1', arguments: {}, result: 'whole' };
    expect(await set.runAfter(args)).toEqual({ result: { customResult: 'whole' } });
    expect([seen, args.result]).toEqual([['view'], 'whole']);
  });

  it('is made by a function', () => {
    expect(() => toolCallbacks().registerCallbackResult('x' as never)).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
  });
});
