import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import type { ScriptedStep } from 'holdfast/testing';
import { testConversation } from 'holdfast/testing';
import { parallel, sequential } from 'holdfast/workflow';
import { gate, lineOf } from '../../support/memory-bed';
import { member, scripts } from '../../support/team-bed';

const pay = defineTool({ description: 'Pays.', inputSchema: z.object({}), effect: 'once', execute: () => 'paid 80' });
const call = (name: string): ScriptedStep => ({ toolCalls: [{ name, input: {} }] });

describe('a conversation of several agents', () => {
  it('does not forget what happened in a turn that failed', async () => {
    const team = sequential({ name: 'team', agents: [member('clerk', { tools: ['pay'] }), member('boss')] });
    const model = scripts({
      clerk: [call('pay'), { text: 'Paid.' }, { text: 'It was paid.' }],
      boss: [{ error: 'away' }, { text: 'Fine.' }],
    });
    const chat = await testConversation(team, { model, tools: { pay } });
    await chat.send('A refund, please.');
    expect(await chat.turn(1)).toMatchObject({ status: 'failed' });
    await chat.send('And?');
    expect(await chat.turn(2)).toMatchObject({ status: 'completed' });
    expect(model.requests('clerk').at(-1)?.messages.map(lineOf)).toEqual([
      'user: A refund, please.',
      'assistant: pay({})',
      'tool: paid 80',
      'assistant: Paid.',
      'user: And?',
    ]);
    expect(model.requests('boss').at(-1)?.messages.map(lineOf)).toContain(
      'user: For context: [clerk] `pay` tool returned result: paid 80.',
    );
  });

  it('knows of calls beside each other, with each result behind its call, also of one that was stopped', async () => {
    const doors = { fast: gate(), slow: gate() };
    const waiting = (name: keyof typeof doors) =>
      defineTool({ description: 'Waits.', inputSchema: z.object({}), execute: async () => (await doors[name].opened, name) });
    const team = parallel({ name: 'team', agents: [member('one', { tools: ['slow'] }), member('two', { tools: ['fast', 'pay'] })] });
    const model = scripts({ one: [call('slow'), { text: 'One.' }], two: [call('fast'), call('pay'), { error: 'away' }, { text: 'Two.' }] });
    const chat = await testConversation(team, { model, tools: { pay, fast: waiting('fast'), slow: waiting('slow') } });
    await chat.send('Go.');
    doors.fast.open();
    while (model.requests('two').length < 3) await new Promise((resolve) => setImmediate(resolve));
    await chat.send('Again.', { mode: 'now' });
    doors.slow.open();
    await chat.turn(2);
    const [first, second] = ['one', 'two'].map((name) => model.requests(name).at(-1)?.messages.map(lineOf) ?? []);
    expect(first?.slice(0, 3)).toEqual(['user: Go.', 'assistant: slow({})', 'tool: slow']);
    expect(first).toContain('user: For context: [two] `pay` tool returned result: paid 80.');
    expect(second?.filter((line) => !line.includes('[one]'))).toEqual([
      'user: Go.',
      'assistant: fast({})',
      'tool: fast',
      'assistant: pay({})',
      'tool: paid 80',
      'user: Again.',
    ]);
    expect(first?.at(-1)).toBe('user: Again.');
  });
});
