import type { Message } from '../../../contract/messages/messages';
import { withUserMessages } from '../../../middleware/summarization/user-messages';
import { scriptedModel } from '../../../testing/index';
import { summarization } from '../../../middleware/index';
import { asked, said, user } from '../../support/compaction-bed';

const reminder = (mark: string): Message => ({ role: 'user', parts: [{ type: 'text', text: `made by ${mark}` }], extra: { [mark]: true } });

describe('[check 11] summaries beside middlewares that put messages in', () => {
  it('count none of these among the words of the user', () => {
    const summary = 'Before.\n<all_user_messages>\nx\n</all_user_messages>';
    const words = withUserMessages(summary, [reminder('agentsMd'), user('Do it.'), reminder('toolSearch')], 1000);
    expect(words).toBe('Before.\n<all_user_messages>\n- Do it.\n</all_user_messages>');
  });

  it('are not made of nothing but these and an earlier summary', async () => {
    const sum = scriptedModel([]);
    const { run, requests } = await asked(
      [summarization({ model: 'test/sum', trigger: { tokens: 1 }, tokenCounter: () => 100, keepMessages: 2 })],
      [reminder('agentsMd'), reminder('summarization'), said('Hello.'), user('Do it.')],
      { models: { sum } },
    );
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect([requests[0]?.messages.length, sum.requests.length]).toEqual([4, 0]);
  });
});
