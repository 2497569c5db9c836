import { z } from 'zod';
import { HoldfastWorker, sendEvent, setRunLocalValue } from '../../../worker/index';
import type { ToolCallContext } from '../../../activities/tools/define-tool';
import { defineTool } from '../../../activities/tools/tools';
import type { Delta } from '../../../contract/deltas';
import type { HoldfastError } from '../../../contract/errors';
import type { testRun } from '../../../testing/index';
import { failureSaying, errorSaying } from '../../support/failures';
import { agentWith, fails, logOf, startRun } from '../../support/memory-bed';

const keep = (kept: ToolCallContext[], then: () => void = () => undefined): ReturnType<typeof defineTool> =>
  defineTool({
    description: 'Keeps its call.',
    inputSchema: z.object({}),
    execute: (_, call) => {
      kept.push(call);
      call.runLocal.set('in time', 1);
      then();
      return 'ok';
    },
  }) as never;

describe('what a tool asks for when its call has ended', () => {
  const play = async (
    tool: ReturnType<typeof keep>,
    count = 1,
  ): Promise<{ run: Awaited<ReturnType<typeof testRun>>; problems: HoldfastError[]; deltas: Delta[] }> => {
    const problems: HoldfastError[] = [];
    const deltas: Delta[] = [];
    const calls = Array.from({ length: count }, () => ({ name: 'keep', input: {} }));
    const run = await startRun(agentWith({ tools: ['keep'] }), [{ toolCalls: calls }, { text: 'Done.' }], {
      id: 'order-42',
      tools: { keep: tool },
      onProblem: (problem) => problems.push(problem),
      onDelta: (delta) => deltas.push(delta),
    });
    await run.outcome();
    return { run, problems, deltas };
  };

  it('does nothing, throws nothing, and is reported once with run, tool and address', async () => {
    const kept: ToolCallContext[] = [];
    const { run, problems, deltas } = await play(keep(kept), 2);
    const [first, second] = kept;
    const shown = deltas.length;
    first?.sendEvent('late', 1);
    first?.runLocal.set('late', 1);
    first?.runLocal.delete('in time');
    first?.progress({ late: true });
    expect(first?.runLocal.get('in time')).toBe(1);
    expect(first?.runLocal.get('late')).toBeUndefined();
    expect(first?.interrupt('Late?')).toBeUndefined();
    expect(problems).toMatchObject([
      {
        code: 'outside-run',
        message:
          'call.sendEvent came too late and did nothing: the tool \'keep\' asked for it when its call agent/t1/keep.0 of run "order-42" had ended. Let the tool await all that it starts, and stop when the signal of the call aborts. This is told once for a call.',
        details: { run: 'order-42', tool: 'keep', address: 'agent/t1/keep.0' },
      },
    ]);
    second?.progress({ late: true });
    expect(problems[1]).toMatchObject({ message: expect.stringMatching(/^call.progress came too late.*agent\/t1\/keep\.1/) });
    expect(deltas).toHaveLength(shown);
    expect((await logOf(run)).filter(({ type }) => type === 'custom')).toEqual([]);
  });

  it('by functions that need no call does nothing as well', async () => {
    let late: (() => void) | undefined;
    let ended: (() => void) | undefined;
    const done = new Promise<void>((resolve) => (ended = resolve));
    const waits = new Promise<void>((resolve) => (late = resolve));
    const { problems } = await play(
      keep([], () => {
        void waits.then(() => {
          setRunLocalValue('late', 1);
          sendEvent('late', 1);
          ended?.();
        });
      }),
    );
    late?.();
    await done;
    expect(problems).toMatchObject([{ message: expect.stringMatching(/^setRunLocalValue came too late/) }]);
  });

  it('of an attempt that failed does nothing either', async () => {
    const kept: ToolCallContext[] = [];
    const { problems } = await play(keep(kept, fails('out of order')));
    kept[0]?.sendEvent('late', 1);
    expect(problems).toHaveLength(1);
  });
});

describe('HoldfastWorker.create', () => {
  const options = { server: { address: 'localhost:1', namespace: 'default' }, agents: './agents.ts', tools: {}, bundles: './bundles' };

  it.each<[string, unknown, RegExp]>([
    ['bundles', { ...options, bundles: undefined }, /^HoldfastWorker\.create: bundles must be the path of a directory .* It is missing\.$/],
    ['bundles', { ...options, bundles: ' ' }, /bundles must be the path/],
    ['agents', { ...options, agents: undefined }, /agents must be the path of the module that exports the agents/],
    ['tools', { ...options, tools: [] }, /tools must be an object with tools by their names/],
    ['server', { ...options, server: 'localhost:7233' }, /server must be an object/],
    ['anything', undefined, /must be an object with server, agents, tools and bundles, not undefined/],
  ])('without %s of use says what is missing', async (_, given, message) => {
    await expect(HoldfastWorker.create(given as never)).rejects.toMatchObject(errorSaying('config-invalid', message));
  });
});

it.each<[string, object, RegExp]>([
  ['of a tool', { echo: { names: ['  '] } }, /tool "echo" has an empty alias/],
  ['of an argument', { echo: { arguments: { text: [' '] } } }, /the argument "text" of tool "echo" has an empty alias/],
  ['for no argument', { echo: { arguments: { '': ['words'] } } }, /toolAliases of "echo" has aliases for the argument ""/],
  ['for a blank argument', { echo: { arguments: { ' ': ['words'] } } }, /toolAliases of "echo" has aliases for the argument " "/],
])('aliases that are blank are refused when they are defined: %s', async (_, toolAliases, message) => {
  expect(() => agentWith({ toolAliases })).toThrow(
    expect.objectContaining({ code: 'agent-invalid', message: expect.stringMatching(message) }),
  );
  const run = await startRun(agentWith(), [], { tools: {}, options: { toolAliases: toolAliases as never } });
  expect(await run.outcome()).toMatchObject(failureSaying('options-invalid'));
});
