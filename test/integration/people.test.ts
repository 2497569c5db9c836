import type { GenerateRequest } from '../../activities/models/language-model';
import type { Run } from '../../client/runs/run';
import type { Interrupt } from '../../contract/interrupts';
import { policy } from '../../middleware/index';
import { fixtureTools } from '../fixtures/tools';
import { payingTool } from '../support/batches';
import { eventually } from '../support/temporal';
import type { Answerer, TestBed } from '../support/test-bed';
import { calls, startTestBed, text } from '../support/test-bed';

const fourEyes = { fourEyes: true };
const ofStages = (...stages: readonly object[]): object => policy({ name: 'refunds', tools: ['refund'], stages });

const pays = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
const answer: Answerer = ({ messages }) => (messages.at(-1)?.role === 'tool' ? text('Done.') : pays);
const models = { providers: { test: { model: () => ({ generate: async (request: GenerateRequest) => answer(request) }) } } };

describe('people on a real server', () => {
  const paid: string[] = [];
  const tools = { ...fixtureTools, refund: payingTool(paid) };
  let bed: TestBed;
  beforeAll(async () => {
    bed = await startTestBed(answer, { tools, policies: { refunds: ofStages(fourEyes) } });
  });
  afterAll(() => bed.close());

  const question = async (run: Run, other?: string): Promise<Interrupt> => {
    let found: Interrupt | undefined;
    await eventually(async () => {
      [found] = await run.interrupts();
      expect(found).toBeDefined();
      expect(found?.id).not.toBe(other);
    });
    return found as Interrupt;
  };

  it('who are asked by an isolated agent are asked again when its run was cancelled and resumed, and by a newer policy', async () => {
    const run = await bed.client.start('configuredApart', 'Refund', { by: 'sue', tags: [bed.taskQueue] });
    expect(await question(run)).toMatchObject({ notBy: ['sue'] });
    await run.cancel();
    expect(await run.outcome()).toMatchObject({ status: 'cancelled' });
    await run.resume();
    const asked = await question(run);
    const newer = ofStages(fourEyes, { by: { users: ['bob'] } });
    await bed.worker.takeOver({ models, tools, policies: { refunds: newer } });
    await eventually(async () => {
      const { outcomes } = await bed.client.applyPolicy(newer, { tag: bed.taskQueue });
      expect(outcomes).toMatchObject([{ outcome: 'asked' }]);
    });
    const again = await question(run, asked.id);
    await run.approve(again.id, { by: 'ada' });
    const last = await question(run, again.id);
    expect(last).toMatchObject({ by: ['bob'] });
    await run.approve(last.id, { by: 'bob' });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(paid).toEqual(['42 80']);
  });
});
