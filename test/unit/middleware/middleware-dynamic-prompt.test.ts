import type { AgentMiddleware } from '../../../workflows/index';
import { dynamicPrompt } from '../../../middleware/index';
import { asked, failureOf, user } from '../../support/compaction-bed';
import { echo, fails } from '../../support/memory-bed';

const steps = [{ toolCalls: [echo('x')] }, { text: 'Done.' }];

describe('dynamicPrompt', () => {
  it('makes the instructions of each call from messages, values and session', async () => {
    const setting: AgentMiddleware = {
      name: 'setting',
      beforeAgent: (_, ctx) => void ctx.session.set('tone', 'kind'),
      beforeModelRewriteState: (_, ctx) => ({ values: { turn: ctx.iteration } }),
    };
    const prompt = dynamicPrompt(
      ({ messages }, ctx) =>
        `Be ${String(ctx.session.get('tone'))} to ${String(ctx.values['who'])} in turn ${String(ctx.values['turn'])} of ${messages.length}.`,
    );
    const { requests } = await asked([setting, prompt], [user('Hi')], { steps, values: { who: 'Ada' } });
    expect(requests.map(({ instructions }) => instructions)).toEqual(['Be kind to Ada in turn 1 of 1.', 'Be kind to Ada in turn 2 of 3.']);
  });

  it('stands behind the instructions of the agent where it is told to, also several times', async () => {
    const { requests } = await asked(
      [dynamicPrompt(() => 'One.', { append: true }), dynamicPrompt(async () => 'Two.', { append: true })],
      [user('Hi')],
    );
    expect(requests[0]?.instructions).toBe('Be a test.\n\nOne.\n\nTwo.');
    const bare = await asked([dynamicPrompt(() => 'One.', { append: true })], [user('Hi')], { agent: { instructions: '' } });
    expect(bare.requests[0]?.instructions).toBe('One.');
  });

  it('ends the run when its function fails or returns no text', async () => {
    expect(await failureOf(await asked([dynamicPrompt(fails('no words'))], [user('Hi')]))).toBe(
      'hook-failed: wrapModel of middleware "dynamicPrompt" failed: no words',
    );
    expect(await failureOf(await asked([dynamicPrompt(() => undefined as never)], [user('Hi')]))).toBe(
      'hook-failed: dynamicPrompt got undefined from its function; it is to return a text.',
    );
  });

  it('refuses what is no function and options that it does not have', () => {
    expect(() => dynamicPrompt('Be kind.' as never)).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
    expect(() => dynamicPrompt(() => '', { prepend: true } as never)).toThrow(
      'dynamicPrompt: there is no option "prepend"; there is only append.',
    );
  });
});
