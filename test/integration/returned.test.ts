import { textOf } from '../../contract/messages/messages';
import type { TestBed } from '../support/test-bed';
import { startTestBed, text } from '../support/test-bed';

describe('what an agent returned without having said it', () => {
  const heard: string[][] = [];
  let bed: TestBed;
  beforeAll(async () => {
    bed = await startTestBed(
      ({ messages }) => {
        heard.push(messages.map((message) => textOf(message)));
        return text('Heard.');
      },
      // Nothing is kept in memory: all has to stand in the history.
      { messageCacheBytes: 1 },
    );
  });
  afterAll(() => bed.close());

  it.each([
    ['returned', 1, ['For context: [one] said: one is gone.']],
    ['inLoop', 3, ['For context: [two] said: two is gone.']],
    ['behindLanes', 1, ['For context: [three] said: three is gone.', 'For context: [four] said: four is gone.']],
  ])('is heard by the model behind it in "%s"', async (agent, calls, words) => {
    heard.length = 0;
    const run = await bed.client.start(agent, 'Hi');
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
    expect(heard).toHaveLength(calls);
    for (const messages of heard) expect(messages).toEqual(expect.arrayContaining(['Hi', ...words]));
  });
});
