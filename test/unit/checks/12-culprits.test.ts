import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Culprits } from '../../../activities/health/culprits';

describe('[check 12] a tool that harms its process', () => {
  it('by ending it is known to the next process, which calls it once more and then no more', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-culprits-'));
    const problems: string[] = [];
    const call = { workflowId: 'default/r', runId: 'x', address: 'a/t1/exit.0', tool: 'exit', silenceMs: 10_000 };
    const attempt = async (isFirst: boolean, exits: boolean): Promise<string> => {
      const process = new Culprits(directory, ({ message }) => problems.push(message));
      return process.watch(
        { ...call, isFirst },
        async () => {
          await Promise.resolve();
          if (exits) process.processEnds(3);
          return 'ran';
        },
        (message) => message,
      );
    };
    expect(await attempt(true, true)).toBe('ran');
    expect(await attempt(false, true)).toBe('ran');
    expect(await attempt(false, true)).toMatch(/^The tool 'exit' ended its process with code 3, 2 times\. It is not called again/);
    expect(problems).toEqual([0, 1].map(() => "The tool 'exit' ended its process with code 3, in the call a/t1/exit.0 of the run r."));
    expect(await attempt(false, false)).toBe('ran');
    const outside = new Culprits(directory, ({ message }) => problems.push(message));
    outside.processEnds(0);
    expect(problems).toHaveLength(2);
  });

  it('in a call that the server does not count is found by the next process, and is called as one that is counted', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-culprits-'));
    const call = { workflowId: 'default/r', runId: 'x', address: 'a/t1/dies.0', tool: 'dies', silenceMs: 10_000, isFirst: false };
    const inProcess = (run: () => Promise<string>): Promise<string> => new Culprits(directory, () => undefined).watchUncounted(call, run);
    expect(await inProcess(async () => 'ran')).toBe('ran');
    // A process that is killed never comes to the end of the call.
    void inProcess(() => new Promise(() => undefined));
    await expect(inProcess(async () => 'ran')).rejects.toMatchObject({ code: 'tool-failed' });
    expect(await inProcess(async () => 'ran')).toBe('ran');
  });
});
