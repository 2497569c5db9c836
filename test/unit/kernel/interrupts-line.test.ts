import type { AgentMiddleware } from 'holdfast/workflow';
import { parallel } from 'holdfast/workflow';
import { testRun } from 'holdfast/testing';
import { limits } from '../../../contract/limits';
import { logOf, tools } from '../../support/memory-bed';
import { member, scripts } from '../../support/team-bed';

const most = limits.openInterrupts;

function asks(count: number, options: { deadline?: string } = {}): AgentMiddleware {
  return {
    name: 'asks',
    beforeAgent: async (_, ctx) => {
      const answers = await Promise.all(
        Array.from({ length: count }, (_one, n) =>
          ctx.interrupt<string>({ n }, options.deadline === undefined ? {} : { ...options, onDeadline: 'late' }),
        ),
      );
      ctx.sendEvent('answers', answers);
    },
  };
}

async function start(middleware: AgentMiddleware) {
  return testRun(member('a', { middleware: [middleware] }), { input: 'Go.', model: scripts({ a: [{ text: 'Done.' }] }), tools });
}

describe('questions that do not fit beside those that are open', () => {
  it('are shown one by one as others are answered, in the order in which they were asked', async () => {
    const run = await start(asks(most + 2));
    const open = await run.interrupts();
    expect(open).toHaveLength(most);
    await run.resume(open[5]?.id ?? '', 'five');
    expect((await run.interrupts()).at(-1)).toMatchObject({ info: { n: most } });
    await run.goOnAsNew();
    expect(await run.interrupts()).toHaveLength(most);
    for (let rest = await run.interrupts(); rest.length > 0; rest = await run.interrupts())
      for (const { id } of rest) await run.resume(id, 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    const [event] = (await logOf(run)).flatMap((one) => (one.type === 'custom' ? [one.data as readonly string[]] : []));
    expect(event?.filter((answer) => answer === 'yes')).toHaveLength(most + 1);
    expect(event?.[5]).toBe('five');
  });

  it('wait as lanes of one run do as isolated ones do', async () => {
    for (const isolate of [false, true]) {
      const names = Array.from({ length: most + 1 }, (_, n) => `a${n}`);
      const agents = names.map((name) => member(name, { middleware: [asks(1)] }));
      const model = scripts(Object.fromEntries(names.map((name) => [name, [{ text: 'Done.' }]])));
      const run = await testRun(parallel({ name: 'all', isolate, agents }), { input: 'Go.', model, tools });
      const open = await run.interrupts();
      expect(open).toHaveLength(most);
      for (const { id } of open) await run.resume(id, 'yes');
      const [last] = await run.interrupts();
      await run.resume(last?.id ?? '', 'yes');
      expect((await run.outcome()).status).toBe('completed');
    }
  });

  it('have as long for an answer as the others, from when they are shown', async () => {
    const run = await start(asks(most + 1, { deadline: '1h' }));
    expect(await run.interrupts()).toHaveLength(most);
    await run.advance('1h');
    expect(await run.interrupts()).toHaveLength(1);
    await run.advance('59m');
    expect(await run.interrupts()).toHaveLength(1);
    await run.advance('1m');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('are never shown when the run is cancelled', async () => {
    const run = await start(asks(most + 10));
    await run.interrupts();
    await run.cancel();
    expect(await run.outcome()).toEqual({ status: 'cancelled' });
    const log = await logOf(run);
    expect(log.filter(({ type }) => type === 'interrupt-start')).toHaveLength(most);
    expect(log.filter(({ type }) => type === 'interrupt-end')).toHaveLength(most);
  });
});
