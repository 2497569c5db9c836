import type { HistoryFact } from '../../../contract/record/history-fact';
import { estimateTokens } from '../../../middleware/token-count';
import type { Agent } from '../../../kernel/define/agent-ref';
import { testRun } from '../../../testing/index';
import { compacting, mostTokens } from '../../fixtures/compacting-agent';
import { LongWork, task } from '../../support/long-work';
import { agentWith, tools } from '../../support/memory-bed';

interface Worked {
  readonly work: LongWork;
  readonly bytes: number;
  readonly tokensLeft: number;
}

interface Working {
  readonly agent?: Agent<string, string>;
  readonly border?: boolean;
}

async function worked(turns: number, { agent = compacting, border = false }: Working = {}): Promise<Worked> {
  const work = new LongWork(turns);
  const run = await testRun(agent, { input: task, model: work, tools, stream: false });
  if (border) await run.goOnAsNew();
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  const { facts } = (run as unknown as { readonly run: { readonly facts: readonly HistoryFact[] } }).run;
  return { work, bytes: JSON.stringify(facts).length, tokensLeft: estimateTokens(await run.transcript()) };
}

it('300 turns under contextEditing and summarization stay under their bound, refer to nothing that is gone, and cost history by the turn', async () => {
  const short = await worked(100);
  const { work, bytes, tokensLeft } = await worked(300);
  expect(work.problems).toEqual([]);
  expect(work.turn).toBe(300);
  expect(work.summaries).toBeGreaterThan(5);
  expect(work.largest).toBeLessThanOrEqual(mostTokens);
  expect(tokensLeft).toBeLessThanOrEqual(mostTokens);
  expect(bytes / short.bytes).toBeLessThan(3.1);
  const plain = await worked(100, { agent: agentWith({ tools: ['echo'], maxIterations: 1000 }) as Agent<string, string> });
  expect(short.bytes / plain.bytes).toBeLessThan(1.2);
});

it('the same over a continue-as-new', async () => {
  const { work } = await worked(60, { border: true });
  expect([work.problems, work.turn]).toEqual([[], 60]);
});
