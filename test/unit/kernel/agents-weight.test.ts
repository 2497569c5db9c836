import { loop, parallel, sequential } from 'holdfast/workflow';
import type { TestRun } from 'holdfast/testing';
import { logOf } from '../../support/memory-bed';
import { byHand, heard, member, play, says } from '../../support/team-bed';

const factsOf = (run: TestRun): readonly object[] => (run as unknown as { run: { facts: readonly object[] } }).run.facts;
const bytesOf = (run: TestRun): number => JSON.stringify(factsOf(run)).length;

describe('what agents say', () => {
  it('stands in the history of the run once, however many hear it next', async () => {
    const text = 'x'.repeat(300_000);
    const talker = byHand('talker', async function* () {
      yield says(text);
      yield says(text);
    });
    const { run, model, outcome } = await play(sequential({ name: 'both', agents: [talker, member('hearer')] }), {
      hearer: [{ text: 'Heard.' }],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Heard.' });
    expect(heard(model.requests('hearer')[0]!)).toEqual([
      'user: Go.',
      ...Array.from({ length: 2 }, () => `user: For context: [talker] said: ${text}.`),
    ]);
    expect(bytesOf(run)).toBeLessThan(700_000);
    expect((await run.view()).messages).toHaveLength(4);
  });

  it('goes in as many steps as it needs, up to the limit of each message', async () => {
    const text = 'x'.repeat(500_000);
    const talker = byHand('talker', async function* () {
      for (let n = 0; n < 5; n++) yield says(text);
    });
    const { run, outcome } = await play(sequential({ name: 'both', agents: [talker, member('hearer')] }), { hearer: [{ text: 'Heard.' }] });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Heard.' });
    expect((await logOf(run)).filter(({ type }) => type === 'agent-message')).toHaveLength(5);
    expect(bytesOf(run)).toBeLessThan(2_700_000);
  });

  it('goes once from isolated agents too', async () => {
    const text = 'x'.repeat(400_000);
    const lanes = parallel({ name: 'lanes', isolate: true, agents: [member('left'), member('right')] });
    const { run, model, outcome } = await play(sequential({ name: 'all', agents: [lanes, member('hearer')] }), {
      left: [{ text }],
      right: [{ text }],
      hearer: [{ text: 'Heard.' }],
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Heard.' });
    expect(model.requests('hearer')[0]?.messages).toHaveLength(3);
    expect(bytesOf(run)).toBeLessThan(900_000);
  });
});

const rounds = async (count: number): Promise<number> => {
  const answers = (name: string) => Array.from({ length: count }, (_, n) => ({ text: `${name} ${n}` }));
  const polish = loop({ name: 'polish', agents: [member('writer'), member('critic')], maxIterations: count });
  const { run, model } = await play(polish, { writer: answers('w'), critic: answers('c') });
  expect(heard(model.requests('critic')[count - 1]!)).toHaveLength(2 * count);
  expect(heard(model.requests('critic')[count - 1]!).slice(-2)).toEqual([
    `assistant: c ${count - 2}`,
    `user: For context: [writer] said: w ${count - 1}.`,
  ]);
  return bytesOf(run);
};

it('a loop of many rounds has a history that grows with the rounds, and not with their square', async () => {
  const [few, many] = [await rounds(20), await rounds(80)];
  expect(many / few).toBeLessThan(4.5);
});
