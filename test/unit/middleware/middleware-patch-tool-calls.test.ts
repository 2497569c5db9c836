import { patchToolCalls } from '../../../middleware/index';
import { asked, called, failureOf, result, user } from '../../support/compaction-bed';
import { echo, fails } from '../../support/memory-bed';

describe('patchToolCalls', () => {
  it('speaks the language of the run', async () => {
    const { lines } = await asked([patchToolCalls()], [called('c1'), user('Hi')], { language: 'zh' });
    expect(lines[1]).toBe('tool: 工具调用 echo(ID 为 c1)已被取消——在其完成之前收到了另一条消息。');
  });

  it('stays in the transcript, under one id over all calls of the model', async () => {
    const steps = [{ toolCalls: [echo('x')] }, { text: 'Done.' }];
    const { requests, messages } = await asked([patchToolCalls()], [called('c1'), user('Hi')], { steps });
    expect(messages[1]?.role).toBe('tool');
    expect(requests.map(({ messages: sent }) => (sent[1] as { id?: string }).id)).toEqual([messages[1]?.id, messages[1]?.id]);
  });

  it('leaves messages without dangling calls as they are, whatever the order of the results', async () => {
    const input = [user('Hi'), called('c1', 'c2'), result('c2', 'two'), result('c1', 'one')];
    expect((await asked([patchToolCalls(undefined)], input)).lines).toHaveLength(4);
  });

  it('patches a second call of the same id that only one result answers', async () => {
    expect((await asked([patchToolCalls({})], [called('c1', 'c1'), result('c1', 'one')])).lines).toHaveLength(3);
  });

  it('patches a call whose result stands behind something else', async () => {
    const { lines } = await asked([patchToolCalls()], [called('c1'), user('Hi'), called('c2'), result('c2', 'two')]);
    expect(lines.map((line) => line.slice(0, 25))).toEqual([
      'assistant: echo({"text":"',
      'tool: Tool call echo with',
      'user: Hi',
      'assistant: echo({"text":"',
      'tool: two',
    ]);
  });

  it('ends the run when its function fails or returns no text', async () => {
    expect(await failureOf(await asked([patchToolCalls({ content: fails('out of words') })], [called('c1'), user('Hi')]))).toBe(
      'hook-failed: beforeModelRewriteState of middleware "patchToolCalls" failed: out of words',
    );
    expect(await failureOf(await asked([patchToolCalls({ content: (() => 1) as never })], [called('c1'), user('Hi')]))).toBe(
      'hook-failed: content of patchToolCalls returned number for the call "c1"; it is to return a text.',
    );
  });

  it('refuses options that it does not have', () => {
    expect(() => patchToolCalls({ text: 'x' } as never)).toThrow(
      expect.objectContaining({ code: 'agent-invalid', message: 'patchToolCalls: there is no option "text"; there is only content.' }),
    );
    expect(() => patchToolCalls({ content: 'x' } as never)).toThrow('patchToolCalls: content must be a function. It is "x".');
  });
});
