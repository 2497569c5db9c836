import { mkdtempSync, readdirSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CulpritCall } from '../../../activities/health/culprits';
import { Culprits } from '../../../activities/health/culprits';

/** A process whose loop blocks when a test says so. */
class Process {
  readonly problems: string[] = [];
  readonly culprits: Culprits;
  private ms = 0;
  private stoppedMs = 0;

  constructor(readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-blocks-'))) {
    const clock = { now: () => this.ms, worked: () => this.ms - this.stoppedMs };
    this.culprits = new Culprits(directory, ({ message }) => this.problems.push(message), clock);
  }

  block(ms: number): void {
    this.ms += ms;
  }

  /** As by SIGSTOP. */
  stop(ms: number): void {
    this.ms += ms;
    this.stoppedMs += ms;
  }

  call(tool: string, run: () => Promise<string>, isFirst = false, silenceMs = 10_000): Promise<string> {
    const call: CulpritCall = { workflowId: 'default/r', runId: 'x', address: `a/${tool}.0`, tool, isFirst, silenceMs };
    return this.culprits.watch(call, run, (message) => message);
  }
}

const waits = async (): Promise<string> => {
  await Promise.resolve();
  return 'ran';
};

describe('[check 12] a tool that blocks its process', () => {
  it('is told at the first block, and refused after the second', async () => {
    const process = new Process();
    const blocks = async (): Promise<string> => {
      await Promise.resolve();
      return process.culprits.measure(() => {
        process.block(14_000);
        return 'ran';
      });
    };
    expect(await process.call('slow', blocks, true)).toBe('ran');
    expect(process.problems).toEqual([
      expect.stringMatching(/^The tool 'slow' blocked its process for 14 s, in the call a\/slow\.0 of the run r\. .* a worker thread\.$/),
    ]);
    expect(await process.call('slow', blocks)).toBe('ran');
    expect(await process.call('slow', blocks)).toMatch(
      /^The tool 'slow' blocked its process for 14 s, 2 times, and its heartbeats stopped\. It is not called again: .* a worker thread\.$/,
    );
    expect(process.problems).toHaveLength(1);
    expect(readdirSync(process.directory)).toEqual([]);
  });

  it('is none where the process was busy for less than a second, however short the time-out of the tool is', async () => {
    const process = new Process();
    const busy = async (): Promise<string> => {
      process.block(900);
      return waits();
    };
    for (const isFirst of [true, false, false]) expect(await process.call('quick', busy, isFirst, 250)).toBe('ran');
    expect(process.problems).toEqual([]);
  });

  it('is known to the next attempt, also in another process, where it blocks after it has waited', async () => {
    const first = new Process();
    const second = new Process(first.directory);
    const blocksIn = (process: Process) => async (): Promise<string> => {
      await Promise.resolve();
      process.block(12_000);
      return waits();
    };
    await first.call('slow', blocksIn(first), true);
    await second.call('slow', blocksIn(second));
    expect(await first.call('slow', waits)).toMatch(
      /^The process was blocked for 12 s while the tool 'slow' ran in it, and no other tool, 2 times, and its heartbeats stopped\./,
    );
  });

  it('is known to an attempt that begins in the turn of the block', async () => {
    const process = new Process();
    let end = (): void => undefined;
    const never = new Promise<string>((resolve) => (end = () => resolve('ran')));
    const lost = [process.call('slow', () => never, true)];
    process.block(12_000);
    lost.push(process.call('slow', () => never));
    process.block(12_000);
    expect(await process.call('slow', waits)).toMatch(/, 2 times, /);
    end();
    await Promise.all(lost);
  });

  it('is one of those that ran: two that ran together in two blocks are both named and not called again', async () => {
    const process = new Process();
    for (let attempt = 0; attempt < 2; attempt++) {
      let end = (): void => undefined;
      const beside = process.call('beside', () => new Promise((resolve) => (end = () => resolve('ran'))), attempt === 0);
      const blocks = async (): Promise<string> => {
        process.block(12_000);
        return waits();
      };
      expect(await process.call('slow', blocks, attempt === 0)).toBe('ran');
      end();
      expect(await beside).toBe('ran');
    }
    for (const tool of ['beside', 'slow'])
      expect(await process.call(tool, waits)).toMatch(
        /^The process was blocked for 12 s while the tools 'beside', 'slow' ran: by one of them, 2 times, and their heartbeats stopped\. These calls/,
      );
    expect(process.problems).toHaveLength(1);
    expect(readdirSync(process.directory)).toEqual([]);
  });

  it('is one of those that ran: with other calls beside it each time none is given up, unless the block is measured in its code', async () => {
    const process = new Process();
    for (const other of ['beside', 'other', 'third']) {
      let end = (): void => undefined;
      const beside = process.call(other, () => new Promise((resolve) => (end = () => resolve('ran'))), true);
      const blocks = async (): Promise<string> => {
        process.block(12_000);
        return waits();
      };
      expect(await process.call('slow', blocks)).toBe('ran');
      end();
      await beside;
    }
    let end = (): void => undefined;
    const beside = process.call('beside', () => new Promise((resolve) => (end = () => resolve('ran'))), true);
    expect(process.problems.slice(0, 1)).toEqual([
      expect.stringMatching(/^The process was blocked for 12 s while the tools 'beside', 'slow' ran: by one of them\. Meanwhile /),
    ]);
    const measured = async (): Promise<string> => {
      process.culprits.measure(() => process.block(12_000));
      return waits();
    };
    for (const said of ['ran', 'ran', expect.stringMatching(/^The tool 'slow' blocked/)])
      expect(await process.call('slow', measured)).toEqual(said);
    end();
    await beside;
    expect(await process.call('beside', waits)).toBe('ran');
  });

  it('is not blamed for a process that was stopped from outside, or for less than its heartbeats can bear', async () => {
    const process = new Process();
    const harmless = async (): Promise<string> => {
      process.culprits.measure(() => process.block(7_000));
      await Promise.resolve();
      process.stop(60_000);
      return waits();
    };
    for (let attempt = 0; attempt < 4; attempt++) expect(await process.call('slow', harmless)).toBe('ran');
    expect(process.problems).toEqual([]);
  });

  it('is forgotten when an attempt does well, or when nobody has asked for a day', async () => {
    const process = new Process();
    const blocks = async (): Promise<string> => {
      process.culprits.measure(() => process.block(12_000));
      return waits();
    };
    for (const run of [blocks, waits, blocks, waits, blocks]) expect(await process.call('slow', run)).toBe('ran');
    const [file = ''] = readdirSync(process.directory);
    const before = new Date(Date.now() - 90_000_000);
    utimesSync(join(process.directory, file), before, before);
    await process.call('other', blocks, true);
    expect(readdirSync(process.directory)).toEqual([expect.not.stringMatching(file)]);
  });
});
