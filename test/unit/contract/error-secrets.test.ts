import { scriptedModel } from 'holdfast/testing';
import type { AgentMiddleware } from 'holdfast/workflow';
import { withoutCredentials } from '../../../contract/credentials';
import { agentUnder, agentWith, logOf, startRun, transcriptOf } from '../../support/memory-bed';
import { byHand } from '../../support/team-bed';

const url = 'https://ada:correct-horse-7@shop.test/orders';
const fail = (): never => {
  throw new Error(`No answer from ${url}.`);
};

describe('a password in a URL', () => {
  const model = () => scriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }, { text: 'Done.' }]);

  it.each<keyof AgentMiddleware>(['beforeAgent', 'beforeModelRewriteState', 'wrapModel', 'afterAgent'])(
    'that %s puts into its error is not in the error of the run',
    async (hook) => {
      const run = await startRun(agentUnder({ name: 'asks', [hook]: fail }), [{ text: 'Done.' }]);
      const outcome = await run.outcome();
      expect(outcome).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('https://[credentials]@shop.test/orders') },
      });
      expect(JSON.stringify([outcome, await logOf(run)])).not.toContain('correct-horse');
    },
  );

  it('that a workflow tool puts into its error is not in the transcript', async () => {
    const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: fail };
    const run = await startRun(agentWith({ tools: [look] }), model());
    expect((await transcriptOf(run)).join(' ')).toContain("The tool 'look' failed: No answer from https://[credentials]@shop.test/orders.");
    expect(JSON.stringify(await logOf(run))).not.toContain('correct-horse');
  });

  it('that a custom agent yields as its error is not in the error of the run', async () => {
    const agent = byHand('custom', async function* () {
      yield { error: `No answer from ${url}.` };
    });
    const run = await startRun(agent, []);
    expect(JSON.stringify(await run.outcome())).toMatch(/https:\/\/\[credentials\]@shop\.test/);
  });

  it('is looked for in a long text without taking long', () => {
    const long = 'a.'.repeat(100_000);
    // CPU time, because another process may have the core.
    const begun = process.cpuUsage();
    expect(withoutCredentials(long)).toBe(long);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(500);
  });
});
