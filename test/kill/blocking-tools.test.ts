import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { HoldfastError } from '../../contract/errors';
import { fixtureTools } from '../fixtures/tools';
import type { TestBed } from '../support/test-bed';
import { calls, startTestBed, text } from '../support/test-bed';

const heartbeatMs = 1000;
const blockMs = 1700;

function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Where in its code a tool blocks. */
const places: Readonly<Record<string, () => unknown>> = {
  'at once': () => {
    block();
    return 'late';
  },
  'after it has waited': async () => {
    await turn();
    block();
    await turn();
    return 'late';
  },
  'in its stream': async function* () {
    await turn();
    yield 'early';
    block();
    yield 'late';
  },
};

describe('[check 12] a tool that blocks its process for longer than its heartbeat', () => {
  let bed: TestBed;
  let place = '';
  let begun = 0;
  const problems: HoldfastError[] = [];
  const told: string[] = [];
  const begin = (): unknown => {
    begun += 1;
    return places[place]?.();
  };
  const open = (tool: string): Promise<TestBed> =>
    startTestBed(
      ({ messages }) => {
        const last = messages.at(-1);
        if (last?.role !== 'tool') return calls({ name: tool, input: { text: 'x', amount: 1 } });
        told.push(JSON.stringify(last));
        return text('Done.');
      },
      {
        tools: {
          ...fixtureTools,
          echo: defineTool({ description: 'Blocks.', inputSchema: z.object({ text: z.string() }), execute: begin }),
          pay: defineTool({ description: 'Blocks.', inputSchema: z.object({ amount: z.number() }), effect: 'once', execute: begin }),
        },
        toolDefaults: { heartbeatMs },
        onProblem: (problem) => problems.push(problem),
      },
    );
  afterEach(() => bed.close());

  it.each(Object.keys(places))('%s runs twice, is named in the log and in what the model is told, and the run goes on', async (where) => {
    [place, begun, problems.length, told.length] = [where, 0, 0, 0];
    bed = await open('echo');
    const run = await bed.client.start('plain', 'Block.');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    const blame =
      where === 'after it has waited'
        ? /The process was blocked for [\d.]+ s while the tool 'echo' ran/
        : /The tool 'echo' blocked its process for [\d.]+ s/;
    expect(problems).toEqual([expect.objectContaining({ code: 'tool-failed', message: expect.stringMatching(blame) as string })]);
    expect(told).toEqual([expect.stringMatching(blame)]);
    expect(told[0]).toMatch(/, 2 times, and its heartbeats stopped\. It is not called again: .* worker thread/);
    expect(begun).toBe(2);
  });

  it('runs once when it has the effect once: the log names it, and a human is asked', async () => {
    [place, begun, problems.length] = ['at once', 0, 0];
    bed = await open('pay');
    const run = await bed.client.start('plain', 'Pay.');
    expect(await run.outcome()).toMatchObject({ status: 'waiting', interrupts: [{ kind: 'in-doubt' }] });
    expect(problems).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^The tool 'pay' blocked its process for [\d.]+ s, /) as string }),
    ]);
    expect(begun).toBe(1);
    await run.terminate('Seen.');
  });
});
