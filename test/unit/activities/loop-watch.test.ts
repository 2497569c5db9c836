import { MockActivityEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import { createActivities } from '../../../activities/activities';
import type { CallAtWork, LoopGauge } from '../../../activities/health/loop-watch';
import { LoopWatch } from '../../../activities/health/loop-watch';
import { defineTool } from '../../../activities/tools/define-tool';
import { defined } from '../../../contract/defined';
import type { HoldfastError } from '../../../contract/errors';
import { partsOf } from '../../../worker/worker-parts';
import { gate } from '../../support/gate';

class Process implements LoopGauge {
  readonly said: string[] = [];
  private ms = 0;
  private cpuMs = 0;
  private longest = 0;

  now = (): number => this.ms;
  cpu = (): number => this.cpuMs;
  longestBlock = (): number => this.longest;
  reset = (): void => void (this.longest = 0);
  close = (): void => undefined;
  readonly watch = new LoopWatch(({ message }) => this.said.push(message), 5000, this);

  /** `cpuMs`: 0 for a process that was stopped or got no processor. */
  block(ms: number, cpuMs = ms): void {
    this.ms += ms;
    this.cpuMs += cpuMs;
    this.longest = Math.max(this.longest, ms);
  }
}

const call = (tool: string): CallAtWork => ({ tool, workflowId: 'default/r', address: `a/t1/${tool}.0` });

describe('a loop that stands still', () => {
  let process: Process;
  beforeEach(() => (process = new Process()));
  afterEach(() => process.watch.close());

  it('names all calls at work, also the one that ended before anybody could look, and no earlier ones', async () => {
    const { watch } = process;
    const held = gate();
    const beside = watch.during(call('beside'), () => held.pass());
    await watch.during(call('earlier'), async () => undefined);
    process.block(20);
    await watch.during(call('slow'), async () => process.block(12_000));
    watch.look();
    expect(process.said).toEqual([
      expect.stringMatching(
        /^The event loop of this process stood still for 12 s\. At work: 'beside' \(a\/t1\/beside\.0 of run "r"\), 'slow' \(a\/t1\/slow\.0 of run "r"\)\. .* a worker thread\.$/,
      ),
    ]);
    watch.look();
    expect(process.said).toHaveLength(1);
    held.open();
    await beside;
  });

  it('is told again when it stands still again, with the calls that are at work then', async () => {
    for (const tool of ['first', 'second']) {
      await process.watch.during(call(tool), async () => process.block(6000));
      process.watch.look();
    }
    expect(process.said).toEqual([expect.stringContaining(`At work: 'first' (`), expect.stringContaining(`At work: 'second' (`)]);
  });

  it('names five calls and counts the others', async () => {
    const held = gate();
    const all = Array.from({ length: 8 }, (_, n) => process.watch.during(call(`tool${n}`), () => held.pass()));
    process.block(6000);
    process.watch.look();
    expect(process.said).toEqual([expect.stringMatching(/'tool4' \(\S+ of run "r"\) and 3 more\. /)]);
    held.open();
    await Promise.all(all);
  });

  it.each<[string, number, number]>([
    ['a process that was stopped', 60_000, 10],
    ['a process that got no processor', 30_000, 900],
    ['a block that heartbeats outlast', 4900, 4900],
  ])('names no tool for %s', async (_, ms, cpuMs) => {
    await process.watch.during(call('innocent'), async () => process.block(ms, cpuMs));
    process.watch.look();
    process.block(20, 20);
    process.watch.look();
    expect(process.said).toEqual([]);
  });

  it('names nobody when no tool was at work', async () => {
    await process.watch.during(call('earlier'), async () => undefined);
    process.block(20);
    process.block(6000);
    process.watch.look();
    expect(process.said).toEqual([]);
  });
});

it('a tool that computes without a pause is named by the worker that called it', async () => {
  const slow = defineTool({
    description: 'Computes.',
    inputSchema: z.object({ ms: z.number() }),
    execute({ ms }) {
      const { user } = process.cpuUsage();
      while (process.cpuUsage().user - user < ms * 1000) for (let sum = 0; sum < 1_000_000; sum++);
    },
  });
  const nothing = { workflowService: {} as never, namespace: 'default' };
  let loop: LoopWatch | undefined;
  const told = new Promise<HoldfastError>((tell) => (loop = new LoopWatch(tell, 1000)));
  const parts = partsOf(
    { tools: { slow }, environment: {} },
    { source: nothing, connection: () => nothing as never, taskQueue: () => 'q', dataConverter: () => undefined, ...defined({ loop }) },
  );
  const environment = new MockActivityEnvironment({
    activityId: 'a/t1/slow.0',
    workflowExecution: { workflowId: 'default/r', runId: 'r' },
  });
  const { callTool } = createActivities(parts);
  // The gauge starts at its first timer, which is due after the first call.
  for (const ms of [600, 1200]) {
    await environment.run(() => callTool({ path: ['a'], tool: 'slow', callId: 'c', input: { ms }, workerMiddleware: [] }));
    await new Promise((resolve) => setTimeout(() => setImmediate(resolve)));
  }
  const waiting = setInterval(() => undefined, 1000);
  expect(await told).toMatchObject({
    code: 'tool-failed',
    message: expect.stringMatching(/ At work: 'slow' \(a\/t1\/slow\.0 of run "r"\)\. /) as string,
  });
  clearInterval(waiting);
  loop?.close();
});
