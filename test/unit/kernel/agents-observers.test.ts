import { customAgent, loop, parallel, sequential, supervisor } from 'holdfast/workflow';
import type { AgentMiddleware, AgentObserver, Json } from 'holdfast/workflow';
import { testRun } from 'holdfast/testing';
import { AgentRun } from '../../../kernel/engine/run';
import { errorSaying } from '../../support/failures';
import { logOf, tools } from '../../support/memory-bed';
import { member, placed, play, scripts, transfer } from '../../support/team-bed';

const noting: AgentObserver = {
  name: 'noting',
  onStart: (observed, ctx) => ctx.sendEvent('start', { id: observed.id, input: observed.kind === 'agent' ? observed.input.length : null }),
  onEnd: (observed, ctx) => ctx.sendEvent('end', { id: observed.id, output: observed.kind === 'agent' ? observed.output : null }),
  onError: (observed, ctx) => ctx.sendEvent('error', { id: observed.id, code: observed.error.code }),
};
const asking: AgentMiddleware = { name: 'asking', beforeAgent: async (_, ctx) => void (await ctx.interrupt('?')) };
const said = (text: string) => [{ text }];

async function notesOf(run: Awaited<ReturnType<typeof testRun>>): Promise<readonly (readonly [string, Json])[]> {
  return (await logOf(run)).flatMap((event) => (event.type === 'custom' ? [[event.name, event.data] as const] : []));
}

describe('observers of an agent that runs others', () => {
  it('are told when it begins, with what it begins with, and when it has ended, with what it gives', async () => {
    const inner = parallel({ name: 'inner', agents: [member('left'), member('right')], observers: [noting] });
    const outer = sequential({ name: 'outer', agents: [member('opener'), inner], observers: [noting] });
    const { run } = await play(outer, { opener: said('Begin.'), left: said('L.'), right: said('R.') });
    expect(await notesOf(run)).toEqual([
      ['start', { id: 'outer', input: 1 }],
      ['start', { id: 'outer/inner', input: 2 }],
      ['end', { id: 'outer/inner', output: { left: 'L.', right: 'R.' } }],
      ['end', { id: 'outer', output: { left: 'L.', right: 'R.' } }],
    ]);
    expect((await logOf(run)).filter(({ type }) => type === 'custom').map(placed)).toEqual([
      'custom outer',
      'custom outer/inner',
      'custom outer/inner',
      'custom outer',
    ]);
  });

  it('are told once, however often the run goes on as new', async () => {
    const rounds = loop({ name: 'rounds', agents: [member('asks', { middleware: [asking] })], maxIterations: 2, observers: [noting] });
    const team = supervisor({
      name: 'team',
      supervisor: member('boss'),
      agents: [customAgent({ name: 'hand', description: 'Does it.', agents: [rounds], observers: [noting], run: byHand })],
      observers: [noting],
    });
    const model = scripts({ boss: [transfer('hand'), { text: 'Done.' }], asks: [{ text: '1' }, { text: '2' }] });
    const run = await testRun(team, { input: 'Go.', model, tools });
    for (const round of [1, 2]) {
      await run.goOnAsNew();
      const [interrupt, ...others] = await run.interrupts();
      expect([interrupt?.agent, others, round]).toEqual(['asks', [], round]);
      await run.resume(interrupt?.id ?? '', 'yes');
    }
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect((await notesOf(run)).map(([what, data]) => `${what} ${(data as { id: string }).id}`)).toEqual([
      'start team',
      'start team/boss/hand',
      'start team/boss/hand/run/rounds',
      'end team/boss/hand/run/rounds',
      'end team/boss/hand',
      'end team',
    ]);
  });

  it('leave nothing in the journal of rounds that are over', async () => {
    const snapshots = jest.spyOn(AgentRun.prototype, 'snapshot');
    const rounds = loop({
      name: 'rounds',
      agents: [member('asks', { middleware: [noting, asking] })],
      maxIterations: 2,
      observers: [noting],
    });
    const run = await testRun(rounds, { input: 'Go.', model: scripts({ asks: [{ text: '1' }, { text: '2' }] }), tools });
    const [first] = await run.interrupts();
    await run.resume(first?.id ?? '', 'yes');
    expect((await run.interrupts()).map(({ address }) => address[1])).toEqual(['asks#2']);
    await run.goOnAsNew();
    const { journal } = (snapshots.mock.results.at(-1)?.value as ReturnType<AgentRun['snapshot']>).state;
    expect(Object.keys(journal)).toEqual(expect.arrayContaining(['rounds', 'rounds/asks#2']));
    expect(Object.keys(journal).filter((key) => key.startsWith('rounds/asks') && !key.startsWith('rounds/asks#2'))).toEqual([]);
    snapshots.mockRestore();
  });

  it.each([
    ['no list', {}, 'observers must be an array of observers. It is {}.'],
    ['one without a name', [{ onStart: () => undefined }], 'observers[0].name must be a string that is not blank. It is missing.'],
    ['nothing', [undefined], 'observers[0] must be an observer with a name and onStart, onEnd, onError. It is missing.'],
    ['one that sees nothing', [{ name: 'blind' }], 'has none of onStart, onEnd, onError'],
    [
      'one that does more than look on',
      [{ name: 'busy', wrapModel: () => undefined }],
      'there is no option "observers[0].wrapModel"; there are name, onStart, onEnd, onError.',
    ],
    ['what is no function', [{ name: 'odd', onEnd: true }], 'observers[0].onEnd must be a function. It is true.'],
    ['two of one name', [noting, noting], 'two of its observers are named "noting"'],
  ])('are refused when they are %s', (_, observers, problem) => {
    const make = (): unknown => sequential({ name: 'all', agents: [member('one')], observers: observers as never });
    expect(make).toThrow(errorSaying('agent-invalid', problem));
  });
});

async function* byHand(_: unknown, ctx: { runAgent(name: string): Promise<{ text: string }> }) {
  const { text } = await ctx.runAgent('rounds');
  yield { message: { role: 'assistant' as const, parts: [{ type: 'text' as const, text }] } };
}
