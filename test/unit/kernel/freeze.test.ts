import type { Message } from '../../../contract/messages/messages';
import { textOf } from '../../../contract/messages/messages';
import type { AgentMiddleware } from '../../../kernel/define/middleware';
import { failureSaying } from '../../support/failures';
import { agentUnder, startRun } from '../../support/memory-bed';

const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const change = (message: Message | undefined): void => void ((message?.parts[0] as { text: string }).text = 'Something else');

describe('what a hook is given cannot be changed in place:', () => {
  it.each<[string, keyof AgentMiddleware, AgentMiddleware]>([
    [
      'a list of messages',
      'beforeModelRewriteState',
      { name: 'own', beforeModelRewriteState: ({ messages }) => void (messages as unknown[]).push(said('more')) },
    ],
    [
      'a message deep inside a request',
      'wrapModel',
      { name: 'own', wrapModel: (request, next) => (change(request.messages[0]), next(request)) },
    ],
  ])('%s', async (_, hook, layer) => {
    expect(await (await startRun(agentUnder(layer), [])).outcome()).toMatchObject(
      failureSaying('hook-failed', `${hook} of middleware "own"`),
    );
  });

  it('a message that a hook before has put among others', async () => {
    const texts: string[] = [];
    const run = await startRun(
      agentUnder(
        { name: 'adder', beforeModelRewriteState: ({ messages }) => ({ messages: [...messages, said('added')] }) },
        { name: 'mover', beforeModelRewriteState: ({ messages }) => ({ messages: [said('moved'), ...messages.slice(1)] }) },
        {
          name: 'editor',
          beforeModelRewriteState({ messages }) {
            for (const message of messages) expect(() => change(message)).toThrow(TypeError);
            texts.push(...messages.map(textOf));
          },
        },
      ),
      [{ text: 'Hi.' }],
    );
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
    expect(texts).toEqual(['moved', 'added']);
  });
});
