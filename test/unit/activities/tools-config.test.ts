import { z } from 'zod';
import { ToolRegistry, defineTool } from '../../../activities/tools/tools';
import { scriptedModel, testRun } from '../../../testing/index';
import { agentWith, gate, only, transcriptOf } from '../../support/memory-bed';
import { errorOf } from '../../support/failures';

const basics = { description: 'Works.', inputSchema: z.object({}) };
const plain = { ...basics, execute: () => 'done' };
const calling = (...names: string[]) => scriptedModel([{ toolCalls: names.map((name) => ({ name, input: {} })) }, { text: 'Done.' }]);

describe('refused when the worker starts:', () => {
  it.each<[string, object | null, RegExp]>([
    ['nothing', null, /it is no tool/],
    ['no execute and no stream', basics, /no execute function, and no stream/],
    ['an execute that is no function', { ...plain, execute: 'x' }, /execute must be a function\. It is "x"\./],
    ['a stream that is no function', { ...plain, stream: [] }, /stream must be a function\. It is \[\]\./],
    ['enhanced that is neither', { ...plain, enhanced: 'yes' }, /enhanced must be true or false\. It is "yes"\./],
    ['no schema', { description: 'x', execute: () => 1 }, /inputSchema: there is none; use a zod 4 schema/],
    ['an effect that there is not', { ...plain, effect: 'twice' }, /effect must be "none", "idempotent" or "once"\. It is "twice"\./],
    ['reconcile without once', { ...plain, reconcile: () => 'unknown' }, /reconcile is for tools with effect "once"/],
    ['a timeout that is no duration', { ...plain, timeout: 'soon' }, /"soon" is no duration/],
    ['a heartbeat that is no duration', { ...plain, heartbeat: '0s' }, /"0s" is no duration/],
    ['a field that there is not', { ...plain, effects: 'once' }, /there is no field "effects"; did you mean effect\?/],
    ['an option of retry that there is not', { ...plain, retry: { attempt: 3 } }, /there is no option "retry\.attempt"/],
    ['a description that is none', { ...plain, description: 5 }, /description must be a string\. It is 5\./],
    ['a timeout that is no string', { ...plain, timeout: Symbol('x') }, /timeout must be a duration .*\. It is a symbol\./],
    ['no attempt', { ...plain, retry: { attempts: 0 } }, /retry\.attempts must be a whole number of at least 1\. It is 0\./],
    ['a limit over 1 MB', { ...plain, resultLimit: 2 ** 21 }, /resultLimit must be a number from 1 to 1048576\. It is /],
    ['a limit that is none', { ...plain, resultLimit: Number.NaN }, /resultLimit must be a number from 1 to 1048576\. It is /],
  ])('%s', (_, tool, message) => {
    expect(() => new ToolRegistry({ tool })).toThrow(errorOf('config-invalid', /^Tool "tool": /));
    expect(() => new ToolRegistry({ tool })).toThrow(message);
  });

  it('a name that can be no part of an address', () => {
    expect(() => new ToolRegistry({ 'a/b': plain })).toThrow(/Tool "a\/b": a name is/);
  });
});

describe('facts of a tool', () => {
  it('are what it says, and the defaults elsewhere', () => {
    const registry = new ToolRegistry({
      plain,
      slow: { ...plain, effect: 'idempotent', timeout: '5m', heartbeat: '1m', retry: { attempts: 9 }, resultLimit: 10 },
      once: { ...plain, effect: 'once', retry: { attempts: 9 } },
    });
    expect(registry.factsOf('plain')).toMatchObject({ effect: 'none', timeoutMs: 60_000, heartbeatMs: 10_000, attempts: 5 });
    expect(registry.factsOf('slow')).toMatchObject({
      effect: 'idempotent',
      timeoutMs: 300_000,
      heartbeatMs: 60_000,
      attempts: 9,
      resultLimit: 10,
    });
    // For a once tool, the attempts belong to reconcile.
    expect(registry.factsOf('once')).toMatchObject({ attempts: 9 });
  });

  it('take the defaults of the worker', () => {
    const registry = new ToolRegistry({ plain }, { timeoutMs: 1_000, attempts: 2 });
    expect(registry.factsOf('plain')).toMatchObject({ timeoutMs: 1_000, attempts: 2 });
  });

  it('change their hash with the schema only', () => {
    const hash = (tool: object) => new ToolRegistry({ tool }).factsOf('tool')?.schemaHash;
    expect(hash(plain)).toBe(hash({ ...plain, description: 'Other.' }));
    expect(hash(plain)).not.toBe(hash({ ...plain, inputSchema: z.object({ more: z.string() }) }));
  });
});

describe('a timeout', () => {
  it('is told to the model when all attempts were too slow, and reaches the signal of each', async () => {
    const told: number[] = [];
    const slow = defineTool({
      ...basics,
      timeout: '20ms',
      execute: (_, { signal, attempt }) => {
        signal.addEventListener('abort', () => told.push(attempt));
        return new Promise<string>(() => undefined);
      },
    });
    const run = await testRun(agentWith({ tools: ['slow'] }), { input: 'Hi', model: calling('slow'), tools: { slow } });
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'slow' gave no result within 0.02 s.");
    expect(told).toEqual([1, 2, 3, 4, 5]);
    for await (const event of run.events()) if (event.type === 'tool-end') expect(event.error?.code).toBe('tool-timeout');
  });

  it('holds for streams, and an attempt that is fast enough counts', async () => {
    const stuck = defineTool({
      ...basics,
      timeout: '20ms',
      async *stream(_, { attempt }) {
        yield `${attempt}`;
        if (attempt < 3) await new Promise(() => undefined);
      },
    });
    const run = await testRun(agentWith({ tools: ['stuck'] }), { input: 'Hi', model: calling('stuck'), tools: { stuck } });
    expect((await transcriptOf(run))[2]).toBe('tool: 3');
  });

  it('leaves it open whether a once tool took effect', async () => {
    const door = gate();
    const pay = defineTool({ ...basics, timeout: '20ms', effect: 'once', execute: () => door.opened });
    const run = await testRun(agentWith({ tools: ['pay'] }), { input: 'Hi', model: calling('pay'), tools: { pay } });
    expect(only(await run.interrupts())).toMatchObject({ kind: 'in-doubt' });
    door.open();
  });
});
