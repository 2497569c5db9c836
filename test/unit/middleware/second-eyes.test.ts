import { codeOf } from 'holdfast/client';
import type { PolicyStage } from 'holdfast/middleware';
import { approvalsBy, policy } from 'holdfast/middleware';
import type { TestConversation, TestRun } from 'holdfast/testing';
import { scriptedModel, testConversation, testRun } from 'holdfast/testing';
import { parallel } from 'holdfast/workflow';
import { agentWith, approvalOf as asked } from '../../support/memory-bed';
import { paid, refund } from '../../support/paid-refund';

const pays = { toolCalls: [{ name: 'refund', input: { amount: 80 } }] };
const byPolicy = (stages: readonly PolicyStage[]) => policy<{ refund: typeof refund }>({ name: 'refunds', tools: ['refund'], stages });
const agent = agentWith({ tools: ['refund'], middleware: [approvalsBy('refunds')] });
const fourEyes = [{ fourEyes: true }];

beforeEach(() => (paid.length = 0));

async function chatBy(by: string | undefined, stages: readonly PolicyStage[] = fourEyes, isolate = false): Promise<TestConversation> {
  const model = scriptedModel([pays, { text: 'Done.' }, pays, { text: 'Done.' }]);
  const whole = isolate ? parallel({ name: 'apart', isolate: true, agents: [agent] }) : agent;
  return testConversation(whole as never, {
    model,
    tools: { refund },
    policies: { refunds: byPolicy(stages) },
    ...(by === undefined ? {} : { by }),
  });
}

async function approvedBy(run: TestRun, ...names: readonly string[]): Promise<readonly unknown[]> {
  const outcomes: unknown[] = [];
  for (const by of names) {
    const { id } = await asked(run);
    outcomes.push(await run.approve(id, { by }).then(() => 'taken', codeOf));
  }
  await run.outcome();
  return outcomes;
}

describe('four eyes in a conversation', () => {
  it.each([false, true])('are not those of whoever wrote to the turn (isolated agent: %p)', async (isolate) => {
    const chat = await chatBy('ada', fourEyes, isolate);
    await chat.send('Refund 80', { by: 'bob' });
    expect(await asked(chat.run)).toMatchObject({ notBy: ['ada', 'bob'], policy: { stage: { need: 1 } } });
    await chat.run.goOnAsNew();
    expect(await approvedBy(chat.run, 'ada', 'bob', 'cleo')).toEqual(['answer-forbidden', 'answer-forbidden', 'taken']);
    expect(paid).toEqual([80]);
  });

  it('may be those of somebody who wrote to an earlier turn', async () => {
    const chat = await chatBy('ada');
    await chat.send('Refund 80', { by: 'bob' });
    await approvedBy(chat.run, 'cleo');
    await chat.send('Again', { by: 'cleo' });
    expect(await approvedBy(chat.run, 'cleo', 'bob')).toEqual(['answer-forbidden', 'taken']);
    expect(paid).toEqual([80, 80]);
  });

  it('are not those of whoever changed a message that waited', async () => {
    const chat = await chatBy('ada');
    await chat.pause();
    const sent = chat.send('Refund 8', { by: 'ada', id: 'm' });
    await chat.change('m', 'Refund 80', { by: 'bob' });
    await chat.unpause();
    await sent;
    expect(await approvedBy(chat.run, 'bob', 'cleo')).toEqual(['answer-forbidden', 'taken']);
  });

  it('are two people where nobody knows who wrote', async () => {
    const chat = await chatBy('ada');
    await chat.send('Refund 80');
    expect((await asked(chat.run)).policy?.stage.need).toBe(2);
    expect(await approvedBy(chat.run, 'bob', 'cleo')).toEqual(['taken', 'taken']);
    expect(paid).toEqual([80]);
  });

  it('are one person more where the starter wrote', async () => {
    const chat = await chatBy('ada');
    await chat.send('Refund 80', { by: 'ada' });
    expect(await approvedBy(chat.run, 'ada', 'cleo')).toEqual(['answer-forbidden', 'taken']);
  });

  it('do not concern stages without them', async () => {
    const chat = await chatBy('ada', [{}]);
    await chat.send('Refund 80', { by: 'bob' });
    expect(await approvedBy(chat.run, 'bob')).toEqual(['taken']);
  });
});

describe('one person with several forms of a name', () => {
  const composed = 'Zo\u00e9';
  const others = ['Zoe\u0301', ' Zo\u00e9', 'zo\u00e9', 'ZO\u00c9'];

  async function startedBy(by: string, stages: readonly PolicyStage[]): Promise<TestRun> {
    const model = scriptedModel([pays, { text: 'Done.' }]);
    return testRun(agent, { input: 'Refund', by, model, tools: { refund }, policies: { refunds: byPolicy(stages) } });
  }

  it.each(others)('is not a second pair of eyes: %p', async (name) => {
    const run = await startedBy(composed, fourEyes);
    expect(await approvedBy(run, name, 'bob')).toEqual(['answer-forbidden', 'taken']);
  });

  it.each(others)('counts once where two have to approve: %p', async (name) => {
    const run = await startedBy('ada', [{ need: 2 }]);
    expect(await approvedBy(run, composed, name)).toEqual(['taken', 'answer-forbidden']);
    expect(paid).toEqual([]);
  });

  it('is asked in each form in which Unicode writes the same letters, and in no other one', async () => {
    const stages = [{ by: { users: [composed] } }];
    expect(await approvedBy(await startedBy('ada', stages), ' Zo\u00e9', 'zo\u00e9', 'Zoe\u0301')).toEqual([
      'answer-forbidden',
      'answer-forbidden',
      'taken',
    ]);
  });

  it('cannot hand a decision on to itself', async () => {
    const run = await startedBy('ada', [{}]);
    const { id } = await asked(run);
    await expect(run.resume(id, { type: 'delegate', to: 'BOB' }, { by: 'bob' })).rejects.toMatchObject({ code: 'answer-invalid' });
    await expect(run.resume(id, { type: 'delegate', to: 'bob' }, { by: 'bob' })).rejects.toMatchObject({ code: 'answer-invalid' });
  });

  it('cannot be all that a policy needs two of', () => {
    expect(() => byPolicy([{ by: { users: [composed, 'zo\u00e9'] }, need: 2 }])).toThrow('that many can never be reached');
  });

  it('leaves nobody who may decide, so the call does not run', async () => {
    const run = await startedBy('ADA', [{ fourEyes: true, by: { users: ['ada'] } }]);
    expect((await run.outcome()).status).toBe('completed');
    expect(paid).toEqual([]);
  });
});
