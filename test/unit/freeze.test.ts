import type { Message } from '../../contract/messages/messages';
import { textOf } from '../../contract/messages/messages';
import { defineAgent } from '../../kernel/define/agent';
import type { AgentMiddleware } from '../../kernel/define/middleware';
import { scriptedModel, testRun } from '../../testing/index';

describe('what a hook is given', () => {
  const outcomeWith = async (middleware: AgentMiddleware): Promise<unknown> => {
    const agent = defineAgent({ name: 'agent', description: '', instructions: '', model: 'test', tools: [], middleware: [middleware] });
    const run = await testRun(agent, { input: 'Hello', model: scriptedModel([{ text: 'Hi.' }]), tools: {} });
    return run.outcome();
  };

  it('cannot be changed in place: a list of messages', async () => {
    const outcome = await outcomeWith({
      name: 'pusher',
      beforeModelRewriteState(state) {
        (state.messages as unknown[]).push({ role: 'user', parts: [] });
      },
    });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'hook-failed', message: expect.stringContaining('beforeModelRewriteState of middleware "pusher"') },
    });
  });

  it('cannot be changed in place: a message deep inside a request', async () => {
    const outcome = await outcomeWith({
      name: 'editor',
      wrapModel(request, next) {
        (request.messages[0]?.parts[0] as { text: string }).text = 'Something else';
        return next(request);
      },
    });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'hook-failed', message: expect.stringContaining('wrapModel of middleware "editor"') },
    });
  });

  it('cannot be changed in place: a message that a hook before has put among others', async () => {
    const texts: string[] = [];
    const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
    const agent = defineAgent({
      name: 'agent',
      description: '',
      instructions: '',
      model: 'test',
      tools: [],
      middleware: [
        { name: 'adder', beforeModelRewriteState: ({ messages }) => ({ messages: [...messages, said('added')] }) },
        { name: 'mover', beforeModelRewriteState: ({ messages }) => ({ messages: [said('moved'), ...messages.slice(1)] }) },
        {
          name: 'editor',
          beforeModelRewriteState({ messages }) {
            for (const { parts } of messages) {
              try {
                (parts[0] as { text: string }).text = 'Something else';
              } catch {
                texts.push(textOf({ role: 'user', parts }));
              }
            }
          },
        },
      ],
    });
    const run = await testRun(agent, { input: 'Hello', model: scriptedModel([{ text: 'Hi.' }]), tools: {} });
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(texts).toEqual(['moved', 'added']);
  });
});
