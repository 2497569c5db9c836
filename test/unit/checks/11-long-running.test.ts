import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import { scriptedModel, testRun } from 'holdfast/testing';
import { agentWith, logOf } from '../../support/memory-bed';

describe('[check 11] a tool that takes long', () => {
  it('shows its interim result, waits at no cost, and has the result that a program sends later', async () => {
    const entered: string[] = [];
    const print = defineTool({
      description: 'Prints a book. It takes days.',
      inputSchema: z.object({ title: z.string() }),
      effect: 'idempotent',
      execute({ title }, call) {
        entered.push(call.idempotencyKey);
        if (call.resumed !== undefined) return { title, pages: call.resumed.answer as number, job: call.resumed.state ?? null };
        call.sendEvent('ordered', { title });
        return call.interrupt({ job: 'job-1' }, { state: 'job-1', answerSchema: z.number(), deadline: '30d' });
      },
    });
    const quick = defineTool({ description: 'Is quick.', inputSchema: z.object({}), execute: () => 'quick' });
    const model = scriptedModel([
      {
        toolCalls: [
          { name: 'print', id: 'p', input: { title: 'Moby' } },
          { name: 'quick', id: 'q', input: {} },
        ],
      },
      { text: 'Done.' },
    ]);
    const run = await testRun(agentWith({ tools: ['print', 'quick'] }), { input: 'Hi', model, tools: { print, quick } });
    const outcome = await run.outcome();
    expect(outcome).toMatchObject({ status: 'waiting', interrupts: [{ info: { job: 'job-1' } }] });
    expect(model.requests).toHaveLength(1);
    await run.advance('20d');
    await run.goOnAsNew();
    const [waiting] = await run.interrupts();
    await expect(run.resume(waiting?.id ?? '', 'many')).rejects.toMatchObject({ code: 'answer-invalid' });
    await run.resume(waiting?.id ?? '', 320);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    const results = (await run.transcript()).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])),
    );
    expect(results).toEqual([{ title: 'Moby', pages: 320, job: 'job-1' }, 'quick']);
    expect([entered.length, new Set(entered).size]).toEqual([2, 1]);
    expect((await logOf(run)).filter(({ type }) => type === 'tool-end')).toHaveLength(2);
  });

  it('that gives nothing for now is an external one: the run ends with the call, and the next one begins with its result', async () => {
    const print = defineTool({ description: 'Prints a book.', inputSchema: z.object({ title: z.string() }), external: true });
    const agent = agentWith({ tools: ['print'] });
    const first = await testRun(agent, {
      input: 'Hi',
      model: scriptedModel([{ toolCalls: [{ name: 'print', id: 'p', input: { title: 'Moby' } }] }]),
      tools: { print },
    });
    expect(await first.outcome()).toMatchObject({ status: 'tool-calls-pending', toolCalls: [{ id: 'p' }] });
    const result = { role: 'tool', parts: [{ type: 'tool-result', callId: 'p', name: 'print', output: { pages: 320 } }] };
    const input = [...(await first.transcript()).map(({ role, parts }) => ({ role, parts })), result];
    const second = await testRun(agent, { input: input, model: scriptedModel([{ text: 'Printed.' }]), tools: { print } });
    expect(await second.outcome()).toMatchObject({ status: 'completed', text: 'Printed.' });
  });
});
