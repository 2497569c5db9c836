import { approvalsBy } from 'holdfast/middleware';
import { scriptedModel, testRun } from 'holdfast/testing';
import { approvedIn, decideBatch, ofTwo, payingTool, randomBatch, resultsIn, wordsOf } from '../../support/batches';
import { agentWith } from '../../support/memory-bed';
import { seed } from '../../support/seed';

describe.each(['a policy of the agent', 'a policy of the configuration'])('a batch with mixed decisions under %s', (which) => {
  const isConfigured = which.endsWith('configuration');
  const agent = agentWith({ tools: ['refund'], middleware: [isConfigured ? approvalsBy('refunds') : ofTwo] });

  it.each(Array.from({ length: 40 }, (_, position) => `${seed}/${position}`))(
    'runs exactly the approved calls, and gives one result for each (%s)',
    async (name) => {
      const batch = randomBatch(name);
      const paid: string[] = [];
      const model = scriptedModel([{ toolCalls: batch.calls }, { text: 'Done.' }]);
      const policies = isConfigured ? { policies: { refunds: ofTwo } } : {};
      const run = await testRun(agent, { input: 'Refund', model, tools: { refund: payingTool(paid) }, ...policies });
      await decideBatch(run, batch);
      expect((await run.outcome()).status).toBe('completed');
      expect([...paid].sort()).toEqual([...approvedIn(batch)].sort());
      const results = resultsIn(await run.transcript());
      const ids = (await run.transcript()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])));
      expect(results.map(({ callId }) => callId)).toEqual(ids);
      expect(results.map(({ output }) => String(output))).toEqual(wordsOf(batch).map((word) => expect.stringContaining(word)));
    },
  );
});
