import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenerateRequest } from '../../activities/models/models';
import type { Run } from '../../client/run';
import { codeOf } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { names } from '../../contract/names';
import { policy } from '../../middleware/index';
import { recordHistory, replayHistories } from '../../testing/index';
import { fixtureTools } from '../fixtures/tools';
import { payingTool } from '../support/batches';
import type { Temporal } from '../support/temporal';
import { eventually, openTemporal } from '../support/temporal';
import type { Answerer, TestBed } from '../support/test-bed';
import { calls, fixtureAgents, fixtureBundle, startTestBed, testServer, text } from '../support/test-bed';

const fourEyes = { fourEyes: true };
const ofStages = (...stages: readonly object[]): object => policy({ name: 'refunds', tools: ['refund'], stages });

const pays = calls({ name: 'refund', input: { orderId: '42', amount: 80 } });
const answer: Answerer = ({ messages }) => (messages.at(-1)?.role === 'tool' ? text('Done.') : pays);
const models = { providers: { test: { model: () => ({ generate: async (request: GenerateRequest) => answer(request) }) } } };

describe('people on a real server', () => {
  const paid: string[] = [];
  const tools = { ...fixtureTools, refund: payingTool(paid) };
  let bed: TestBed;
  let temporal: Temporal;
  beforeAll(async () => {
    temporal = await openTemporal();
    bed = await startTestBed(answer, { tools, policies: { refunds: ofStages(fourEyes) } });
  });
  beforeEach(() => (paid.length = 0));
  afterAll(async () => {
    await bed.close();
    await temporal.close();
  });

  const question = async (run: Run, other?: string): Promise<Interrupt> => {
    let found: Interrupt | undefined;
    await eventually(async () => {
      [found] = await run.interrupts();
      expect(found).toBeDefined();
      expect(found?.id).not.toBe(other);
    });
    return found as Interrupt;
  };
  const goOnAsNew = async (id: string): Promise<void> => {
    const before = await temporal.executionOf(id);
    await temporal.handle(id).signal(names.continueAsNewSignal);
    await temporal.untilAnotherExecution(id, before);
  };
  const refusal = (answer: Promise<unknown>): Promise<unknown> => answer.catch((error: unknown) => codeOf(error));

  it('who are asked about one call agree to the same arguments, also over a continue-as-new', async () => {
    const run = await bed.client.start('signedTwice', 'Refund');
    const first = await question(run);
    await run.approve(first.id);
    const second = await question(run, first.id);
    await run.approve(second.id, { editedInput: { orderId: '42', amount: 5000 } });
    const again = await question(run, second.id);
    expect(again).toMatchObject({ input: { amount: 5000 }, problem: expect.stringContaining('changed') });
    expect(paid).toEqual([]);
    await goOnAsNew(run.id);
    await run.approve(again.id);
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(paid).toEqual(['42 5000']);
    const histories = mkdtempSync(join(tmpdir(), 'holdfast-people-'));
    await recordHistory({ id: run.id, server: testServer(), file: join(histories, 'run.json') });
    const replayed = await replayHistories({ agents: fixtureAgents, bundle: fixtureBundle(), histories });
    expect(replayed.map(({ error }) => error)).toEqual([undefined, undefined]);
  });

  it('who wrote to a turn are no second pair of eyes', async () => {
    const chat = bed.client.conversation('configured', `eyes-${bed.taskQueue}`, { by: 'ada' });
    await chat.send('Refund 80', { by: 'bob' });
    const run = bed.client.run(chat.id);
    const asked = await question(run);
    expect(asked).toMatchObject({ notBy: ['ada', 'bob'] });
    await goOnAsNew(chat.id);
    expect(await refusal(run.approve(asked.id, { by: 'bob' }))).toBe('answer-forbidden');
    expect(await refusal(run.approve(asked.id, { by: ' Bob' }))).toBe('answer-forbidden');
    await run.approve(asked.id, { by: 'cleo' });
    expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
    expect(paid).toEqual(['42 80']);
    await chat.end();
  });

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
