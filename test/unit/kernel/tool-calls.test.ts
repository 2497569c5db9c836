import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { scriptedModel } from 'holdfast/testing';
import type { Json } from '../../../contract/messages/messages';
import { agentWith, echo, fails, gate, linesOf, logOf, startRun, toolOf, tools, transcriptOf } from '../../support/memory-bed';
import { failure, errorOf } from '../../support/failures';

const call = (name: string, input: Json = {}): { name: string; input: Json } => ({ name, input });

describe('a tool that fails', () => {
  it('is told to the model, which goes on', async () => {
    const run = await startRun(agentWith(), [{ toolCalls: [call('fail'), echo('b')] }, { text: 'Sorry.' }]);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Sorry.' });
    expect(await transcriptOf(run)).toEqual([
      'user: Hi',
      'assistant: fail({}) echo({"text":"b"})',
      "tool: error The tool 'fail' failed: out of order",
      'tool: b',
      'assistant: Sorry.',
    ]);
    expect((await logOf(run)).find((event) => event.type === 'tool-end' && event.tool === 'fail')).toMatchObject({
      error: { code: 'tool-failed' },
    });
  });

  it('ends the run when the agent says so, once the others have ended', async () => {
    const run = await startRun(agentWith({ toolErrors: 'fail' }), [{ toolCalls: [call('fail'), echo('b')] }]);
    expect(await run.outcome()).toEqual({
      status: 'failed',
      error: { code: 'tool-failed', message: "The tool 'fail' failed: out of order" },
    });
    expect(await linesOf(run)).toContain('tool-end echo');
  });

  it.each([
    ['a text', 'just text', 'just text'],
    ['a symbol', Symbol('odd'), 'Symbol(odd)'],
  ])('may throw %s', async (_, thrown, text) => {
    const odd = toolOf((): string => {
      throw thrown;
    });
    const run = await startRun(agentWith({ tools: ['odd'] }), [{ toolCalls: [call('odd')] }, { text: 'Done.' }], { tools: { odd } });
    expect((await transcriptOf(run))[2]).toBe(`tool: error The tool 'odd' failed: ${text}`);
  });

  it('is called again as often as it asks for, under one idempotency key', async () => {
    const keys: string[] = [];
    const flaky = toolOf(
      (_, context) => {
        keys.push(`${context.attempt} ${context.idempotencyKey}`);
        if (context.attempt < 3) throw new Error('not yet');
        return 'now';
      },
      { retry: { attempts: 3 } },
    );
    const run = await startRun(agentWith({ tools: ['flaky'] }), [{ toolCalls: [call('flaky')] }, { text: 'Done.' }], {
      id: 'r1',
      tools: { flaky },
    });
    expect((await transcriptOf(run))[2]).toBe('tool: now');
    expect(keys).toEqual(['1 default/r1/agent/t1/flaky.0', '2 default/r1/agent/t1/flaky.0', '3 default/r1/agent/t1/flaky.0']);
  });

  it('is told to the model when what it returns is no JSON or too large', async () => {
    const odd = defineTool({ description: 'Odd.', inputSchema: z.object({}), execute: () => ({ when: new Date(0) }) });
    const big = defineTool({ description: 'Big.', inputSchema: z.object({}), resultLimit: 10, execute: () => 'x'.repeat(20) });
    const run = await startRun(agentWith({ tools: ['odd', 'big'] }), [{ toolCalls: [call('odd'), call('big')] }, { text: 'Done.' }], {
      tools: { odd, big },
    });
    expect((await transcriptOf(run)).slice(2, 4)).toEqual([
      "tool: error The tool 'odd' returned something that is not JSON: when is a Date.",
      "tool: error The tool 'big' returned 22 bytes; at most 10 are allowed.",
    ]);
  });
});

it('arguments fail the run by name when toolArguments throws', async () => {
  const agent = agentWith({ toolArguments: fails('bad') });
  const run = await startRun(agent, [{ toolCalls: [echo('x')] }]);
  expect(await run.outcome()).toMatchObject(failure('hook-failed', 'toolArguments of agent "agent" failed: bad'));
});

describe('aliases', () => {
  it.each([
    ['an empty alias', { echo: { names: [''] } }, /tool "echo" has an empty alias/],
    ['an empty argument alias', { add: { arguments: { a: [''] } } }, /the argument "a" of tool "add" has an empty alias/],
    ['an argument with a dot', { add: { arguments: { 'a.b': ['x'] } } }, /only top-level keys have aliases/],
  ])('refuse %s', (_, toolAliases, message) => {
    expect(() => agentWith({ toolAliases })).toThrow(message);
  });

  it('of arguments may not be arguments of the tool itself', async () => {
    const run = await startRun(agentWith({ toolAliases: { add: { arguments: { a: ['b'] } } } }), []);
    expect(await run.outcome()).toMatchObject(failure('agent-invalid', /"b" of tool "add" is an argument of the tool itself/));
  });

  it('of arguments that the tool does not have are refused, by the worker or, of a workflow tool, at its definition', async () => {
    const run = await startRun(agentWith({ toolAliases: { add: { arguments: { sum: ['total'] } } } }), []);
    const problem = 'ool "add" has no argument "sum", for which toolAliases has aliases. It has: a, b.';
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'agent-invalid', message: `T${problem}` } });
    const atStart = await startRun(agentWith({}), [], { options: { toolAliases: { add: { arguments: { sum: ['total'] } } } } });
    expect(await atStart.outcome()).toMatchObject(failure('options-invalid', `The options of the start: t${problem}`));

    const look = (inputSchema: Json) => ({ name: 'look', description: 'Looks.', inputSchema, execute: () => null });
    const defined = (inputSchema: Json) => () =>
      agentWith({ tools: [look(inputSchema)], toolAliases: { look: { arguments: { place: ['where'] } } } });
    expect(defined({ type: 'object', properties: { at: { type: 'string' } } })).toThrow(
      errorOf('agent-invalid', /tool "look" has no argument "place"/),
    );
    for (const open of [{ type: 'object' }, { type: 'object', properties: {}, additionalProperties: true }])
      expect(defined(open)).not.toThrow();
  });
});

describe('a tool that the agent does not have', () => {
  it('ends the run when tool errors do', async () => {
    const run = await startRun(agentWith({ toolErrors: 'fail' }), [{ toolCalls: [call('refund')] }]);
    expect(await run.outcome()).toMatchObject({ status: 'failed', error: { code: 'tool-not-found' } });
  });

  it('is answered by unknownTool, which has the input', async () => {
    const agent = agentWith({ unknownTool: (name, input) => `no ${name} with ${JSON.stringify(input)}` });
    const run = await startRun(agent, [{ toolCalls: [call('one', { x: 1 })] }, { text: 'Done.' }]);
    expect((await transcriptOf(run))[2]).toBe('tool: no one with {"x":1}');
  });

  it('fails the run by name when unknownTool throws', async () => {
    const agent = agentWith({ unknownTool: fails('lost') });
    const run = await startRun(agent, [{ toolCalls: [call('one')] }]);
    expect(await run.outcome()).toMatchObject({ error: { code: 'hook-failed', message: 'unknownTool of agent "agent" failed: lost' } });
  });
});

describe('ending with a tool', () => {
  it('exit with wrong arguments goes back to the model', async () => {
    const run = await startRun(agentWith({ exitTool: true }), [{ toolCalls: [call('exit', { result: 1 })] }, { text: 'Done.' }]);
    expect(await run.outcome()).toMatchObject({ text: 'Done.' });
    expect((await transcriptOf(run))[2]).toBe("tool: error The tool 'exit' takes { final_result: string }.");
  });

  it('a return-directly result is the output, and its event comes last', async () => {
    const run = await startRun(agentWith({ returnDirectly: ['add'] }), [{ toolCalls: [call('add', { a: 1 }), echo('b'), echo('c')] }]);
    expect(await run.outcome()).toEqual({ status: 'completed', output: { sum: 2 }, text: '{"sum":2}' });
    expect((await linesOf(run)).filter((line) => line.startsWith('tool-end'))).toEqual(['tool-end echo', 'tool-end echo', 'tool-end add']);
    expect((await transcriptOf(run)).slice(2)).toEqual(['tool: {"sum":2}', 'tool: b', 'tool: c']);
  });

  it('of several return-directly calls the last one counts, and all run', async () => {
    const model = scriptedModel([{ toolCalls: [echo('first'), call('add', { a: 1 }), echo('last')] }]);
    const run = await startRun(agentWith({ returnDirectly: ['echo'] }), model);
    expect(await run.outcome()).toMatchObject({ output: 'last' });
    expect((await linesOf(run)).filter((line) => line.startsWith('tool-end'))).toHaveLength(3);
  });

  it('a return-directly tool that fails goes back to the model', async () => {
    const run = await startRun(agentWith({ returnDirectly: ['fail'] }), [{ toolCalls: [call('fail')] }, { text: 'Sorry.' }]);
    expect(await run.outcome()).toMatchObject({ text: 'Sorry.' });
  });
});

it('a call is not lost when the run is told so while another one works', async () => {
  const door = gate();
  const slow = defineTool({ description: 'Waits.', inputSchema: z.object({}), execute: async () => (await door.opened, 'slow') });
  const run = await startRun(agentWith({ tools: ['slow', 'echo'] }), [{ toolCalls: [call('slow'), echo('b')] }, { text: 'Done.' }], {
    tools: { ...tools, slow },
  });
  for await (const event of run.events()) if (event.type === 'tool-end') break;
  expect((await run.view()).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect((await run.view()).status).toBe('running');
  door.open();
  expect((await run.outcome()).status).toBe('completed');
});
