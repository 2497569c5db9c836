import { z } from 'zod';
import { defineTool } from 'holdfast/worker';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { testRun } from 'holdfast/testing';
import type { Agent, AgentMiddleware, AgentPart } from 'holdfast/workflow';
import { agentTool, exitAction, loop, parallel, sequential, supervisor } from 'holdfast/workflow';
import { setSubAgents } from 'holdfast/eino';
import { errorSaying } from '../../support/failures';
import { heldTool, logOf, toolOf, tools } from '../../support/memory-bed';
import { byHand, member, says, scripts, transfer } from '../../support/team-bed';

type AnyAgent = Agent<string, string, unknown>;

interface Scene {
  readonly agent: () => AnyAgent;
  readonly steps: Readonly<Record<string, readonly ScriptedStep[]>>;
  readonly asked: number;
}

const call = (name: string, input: object = {}): ScriptedStep => ({ toolCalls: [{ name, input: input as never }] });

const askingSetup: AgentMiddleware = {
  name: 'asking',
  beforeAgent: async (_, ctx) => ({ values: { answer: await ctx.interrupt<string>(`${ctx.agent}?`) } }),
};
const askingModel: AgentMiddleware = {
  name: 'asking',
  wrapModel: async (request, next, ctx) => {
    ctx.sendEvent('asks', ctx.iteration);
    const answer = await next(request);
    await ctx.interrupt(`${ctx.agent}?`);
    return answer;
  },
};
const askingTool: AgentMiddleware = {
  name: 'asking',
  wrapToolCall: async (request, next, ctx) => {
    const output = await next(request);
    return `${String(output)} ${await ctx.interrupt<string>('Keep it?')}`;
  },
};
const askingThen = (turn: number): AgentMiddleware => ({
  name: 'asking',
  beforeModelRewriteState: async (_, ctx) => {
    ctx.runLocal.set('turns', Number(ctx.runLocal.get('turns') ?? 0) + 1);
    if (ctx.runPath.at(-1)?.endsWith(`#${turn}`) === true) await ctx.interrupt(`Turn ${turn}?`);
  },
});

const scenes: Readonly<Record<string, Scene>> = {
  'a hook of an agent in a sequence': {
    agent: () =>
      sequential({ name: 'both', agents: [member('first', { tools: ['count'] }), member('second', { middleware: [askingSetup] })] }),
    steps: { first: [call('count'), { text: 'One.' }], second: [{ text: 'Two.' }] },
    asked: 1,
  },
  'a layer around the model of a sub-agent': {
    agent: () => setSubAgents(member('desk'), [member('billing', { tools: ['count'], middleware: [askingModel] })]),
    steps: { desk: [transfer('billing')], billing: [call('count'), { text: 'Paid.' }] },
    asked: 2,
  },
  'a layer around a tool of a specialist': {
    agent: () =>
      supervisor({ name: 'team', supervisor: member('boss'), agents: [member('coder', { tools: ['count'], middleware: [askingTool] })] }),
    steps: { boss: [transfer('coder'), { text: 'Shipped.' }], coder: [call('count'), { text: 'Coded.' }] },
    asked: 1,
  },
  'a tool on the worker': {
    agent: () => sequential({ name: 'both', agents: [member('first', { tools: ['count', 'ask'] }), member('second')] }),
    steps: { first: [call('count'), call('ask'), { text: 'One.' }], second: [{ text: 'Two.' }] },
    asked: 1,
  },
  'the third turn of a loop': {
    agent: () =>
      loop({
        name: 'polish',
        agents: [member('writer', { tools: ['count'], middleware: [askingThen(3)] }), member('critic')],
        maxIterations: 4,
      }),
    steps: {
      writer: [call('count'), { text: 'A.' }, { text: 'B.' }, { text: 'C.' }, { text: 'D.' }],
      critic: [{ text: 'a.' }, { text: 'b.' }, { text: 'c.' }, { text: 'd.' }],
    },
    asked: 1,
  },
  'both of two parallel lanes': {
    agent: () =>
      sequential({
        name: 'all',
        agents: [
          member('opener'),
          parallel({
            name: 'lanes',
            agents: [member('left', { tools: ['count'], middleware: [askingTool] }), member('right', { tools: ['count', 'ask'] })],
          }),
          member('closer'),
        ],
      }),
    steps: {
      opener: [{ text: 'Begin.' }],
      left: [call('count'), { text: 'L.' }],
      right: [call('count'), call('ask'), { text: 'R.' }],
      closer: [{ text: 'End.' }],
    },
    asked: 2,
  },
  'an agent tool in an agent tool': {
    agent: () => {
      const inner = member('inner', { tools: ['count'], middleware: [askingTool] });
      const outer = member('outer', { tools: ['count', agentTool(inner)] });
      return member('editor', { tools: [agentTool(outer, { forwardEvents: true })] });
    },
    steps: {
      editor: [call('outer', { request: 'Write.' }), { text: 'Fine.' }],
      outer: [call('count'), call('inner', { request: 'Deeper.' }), { text: 'Out.' }],
      inner: [call('count'), { text: 'In.' }],
    },
    asked: 1,
  },
  'agent tools that were called in one message': {
    agent: () =>
      member('editor', { tools: [agentTool(member('writer', { tools: ['count'], middleware: [askingTool] }), { forwardEvents: true })] }),
    steps: {
      editor: [
        {
          toolCalls: [
            { name: 'writer', input: { request: 'One.' } },
            { name: 'writer', input: { request: 'Two.' } },
          ],
        },
        { text: 'Fine.' },
      ],
      writer: [call('count'), call('count'), { text: 'Roses.' }, { text: 'Roses.' }],
    },
    asked: 2,
  },
  'a custom agent, between what it runs and what it says': {
    agent: () =>
      byHand(
        'guide',
        async function* (_, ctx) {
          yield says('I begin.');
          const { text } = await ctx.runAgent('helper', 'Help.');
          yield says(`${text} ${await ctx.interrupt<string>('Go on?')}`);
          const again = await ctx.runAgent('other', 'Help again.');
          yield says(again.text);
          yield { output: { done: true }, action: exitAction() };
        },
        [member('helper', { tools: ['count'] }), member('other', { middleware: [askingSetup] })],
      ),
    steps: { helper: [call('count'), { text: 'Helped.' }], other: [{ text: 'Other.' }] },
    asked: 2,
  },
  'agents that a custom agent runs at the same time': {
    agent: () =>
      byHand(
        'guide',
        async function* (_, ctx) {
          const [left, right] = await Promise.all([ctx.runAgent('left'), ctx.runAgent('right', 'Help.')]);
          yield says(`${left.text} ${right.text}`);
        },
        [member('left', { tools: ['count'], middleware: [askingTool] }), member('right', { middleware: [askingSetup] })],
      ),
    steps: { left: [call('count'), { text: 'L.' }], right: [{ text: 'R.' }] },
    asked: 2,
  },
};

interface Played {
  readonly shown: unknown;
  readonly counted: number;
  readonly requests: Readonly<Record<string, unknown>>;
}

async function play({ agent, steps, asked }: Scene, cross: (run: TestRun) => Promise<void>): Promise<Played> {
  let counted = 0;
  const model = scripts(steps);
  const run = await testRun(agent(), {
    input: 'Go.',
    model,
    tools: {
      ...tools,
      count: defineTool({ description: 'Counts.', inputSchema: z.object({}), execute: () => (counted++, 'counted') }),
      ask: toolOf((_, asker) => (asker.resumed === undefined ? asker.interrupt('Which?') : String(asker.resumed.answer))),
    },
  });
  let answers = 0;
  for (let open = await run.interrupts(); open.length > 0; open = await run.interrupts()) {
    await cross(run);
    expect(await run.interrupts()).toEqual(open);
    await run.resume(open.at(-1)?.id ?? '', `yes ${++answers}`);
  }
  expect(answers).toBe(asked);
  expect((await run.outcome()).status).toBe('completed');
  for (const name of Object.keys(steps)) model.of[name]?.assertComplete();
  const requests = Object.fromEntries(
    Object.keys(steps).map((name) => [name, model.requests(name).map(({ messages, tools: offered }) => ({ messages, offered }))]),
  );
  return { ...withoutIds({ shown: { events: await logOf(run), view: await run.view() }, requests }), counted };
}

function withoutIds<T>(value: T): T {
  const text = JSON.stringify(value);
  const ids = [...new Set(text.match(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g) ?? [])];
  return JSON.parse(ids.reduce((all, id, position) => all.replaceAll(id, `id-${position}`), text)) as T;
}

const crossings: readonly [string, (run: TestRun, scene: Scene) => Promise<void>][] = [
  ['over a continue-as-new', (run) => run.goOnAsNew()],
  ['over two of them', (run) => run.goOnAsNew().then(() => run.goOnAsNew())],
  ['in code of a later deploy that changed nothing of what is open', (run, scene) => run.goOnAsNew(scene.agent())],
  ['over an upgrade to the same code', (run, scene) => run.upgrade(scene.agent())],
];

it.each(Object.entries(scenes))('an interrupt in %s goes on with all that is around it, and nothing happens twice', async (_, scene) => {
  const straight = await play(scene, () => Promise.resolve());
  for (const [how, cross] of crossings) expect({ how, ...(await play(scene, (run) => cross(run, scene))) }).toEqual({ how, ...straight });
});

describe('code that calls things for ever', () => {
  async function crossed(agent: AnyAgent, { held, begun, door }: ReturnType<typeof heldTool>, model = scripts({})) {
    const run = await testRun(agent, { input: 'Go.', model, tools: { ...tools, held } });
    await begun.opened;
    const over = run.goOnAsNew();
    door.open();
    await over;
    return run;
  }

  it('goes over a continue-as-new before the next call, of a hook', async () => {
    const tool = heldTool();
    let entered = 0;
    const polling: AgentMiddleware = {
      name: 'polling',
      beforeAgent: async (_, ctx) => {
        entered++;
        for (let n = 0; n < 4; n++) await ctx.call('held', {});
      },
    };
    const run = await crossed(member('poller', { middleware: [polling] }), tool, scripts({ poller: [{ text: 'Done.' }] }));
    expect(entered).toBe(2);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(tool.calls()).toBe(4);
  });

  it('goes over a continue-as-new before the next agent and the next event, of a custom agent', async () => {
    let entered = 0;
    const guide = byHand(
      'guide',
      async function* (_, ctx) {
        entered++;
        for (let n = 0; n < 3; n++) yield says((await ctx.runAgent('helper', 'Help.')).text);
      },
      [member('helper', { tools: ['held'] })],
    );
    const model = scripts({ helper: [call('held'), { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] });
    const run = await crossed(guide, heldTool(), model);
    expect(entered).toBe(2);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Three.' });
    expect((await logOf(run)).filter(({ type }) => type === 'agent-message')).toHaveLength(3);
    model.of['helper']?.assertComplete();
  });
});

describe('an upgrade of a run that waits', () => {
  const layer = (wrapToolCall: NonNullable<AgentMiddleware['wrapToolCall']>): AgentMiddleware => ({ name: 'asking', wrapToolCall });
  const family = (
    middleware: readonly AgentMiddleware[],
    others: readonly AgentPart[] = [],
    last: { instructions?: string; tools?: string[] } = {},
  ): AnyAgent => {
    const inner = member('inner', { tools: ['echo'], middleware });
    const outer = member('outer', { tools: [agentTool(inner)] });
    return sequential({
      name: 'all',
      agents: [parallel({ name: 'lanes', agents: [...others, outer, member('other')] }), member('last', { instructions: 'Old.', ...last })],
    });
  };
  const asking = layer(async (request, next, ctx) => {
    const output = await next(request);
    await ctx.interrupt('Keep it?');
    return output;
  });
  const steps = {
    outer: [call('inner', { request: 'Deep.' }), { text: 'Out.' }],
    inner: [call('echo', { text: 'a' }), { text: 'In.' }],
    other: [{ text: 'Other.' }],
    last: [{ text: 'Done.' }],
  };
  const place = 'all/lanes/outer/t1/inner.0/inner/inner!1/t1/echo.0/asking';

  it.each<[string, () => AnyAgent, string]>([
    ['asks for something else', () => family([layer(async (request, next, ctx) => (await ctx.sleep('1s'), next(request)))]), place],
    ['no longer asks', () => family([layer(async (request, next) => next(request))]), place],
    [
      'catches what it is told',
      () =>
        family([
          layer(async (request, next, ctx) =>
            ctx.sleep('1s').then(
              () => next(request),
              () => 'caught',
            ),
          ),
        ]),
      place,
    ],
    ['fails at once', () => family([layer(() => Promise.reject(new Error('No.')))]), place],
    ['is not there any more', () => family([]), 'all/lanes/outer/t1/inner.0/inner/inner!1/t1/echo.0'],
    [
      'is behind a layer that calls something first',
      () =>
        family([
          { name: 'first', wrapToolCall: async (request, next, ctx) => (await ctx.call('echo', { text: 'b' }), next(request)) },
          asking,
        ]),
      place,
    ],
    ['belongs to a lane among others', () => family([asking], [member('new')]), 'all/lanes'],
    ['names a tool that no worker has', () => family([asking], [], { tools: ['nobody'] }), 'nobody'],
  ])('is refused when the code of what is open %s, and the run goes on as it was', async (_, changed, named) => {
    const run = await testRun(family([asking]), { input: 'Go.', model: scripts(steps), tools });
    const open = await run.interrupts();
    await expect(run.upgrade(changed())).rejects.toMatchObject({
      code: named === 'nobody' ? 'tool-unknown' : 'frame-changed',
      message: expect.stringContaining(named) as string,
    });
    expect(await run.interrupts()).toEqual(open);
    await run.resume(open[0]?.id ?? '', true);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('brings new code to what is not open yet', async () => {
    const model = scripts(steps);
    const run = await testRun(family([asking]), { input: 'Go.', model, tools });
    await run.upgrade(family([asking], [], { instructions: 'New.' }));
    await run.resume((await run.interrupts())[0]?.id ?? '', true);
    expect(await run.outcome()).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(model.requests('last')[0]?.instructions).toBe('New.');
    for (const name of Object.keys(steps)) model.of[name]?.assertComplete();
  });

  it('is refused while an isolated agent of it is at work, by its name, and done when that has ended', async () => {
    const apart = () => parallel({ name: 'apart', agents: [member('asker', { middleware: [askingSetup] })], isolate: true });
    const last = (): AnyAgent =>
      sequential({ name: 'both', description: 'Both.', agents: [apart(), member('last', { middleware: [askingSetup] })] });
    const model = scripts({ asker: [{ text: 'Asked.' }], last: [{ text: 'Done.' }] });
    const run = await testRun(last(), { input: 'Go.', model, tools });
    await expect(run.upgrade(last())).rejects.toMatchObject(errorSaying('upgrade-failed', '~apart.asker'));
    await run.resume((await run.interrupts())[0]?.id ?? '', 'yes');
    await run.upgrade(last());
    await run.resume((await run.interrupts())[0]?.id ?? '', 'yes');
    expect(await run.outcome()).toMatchObject({ status: 'completed' });
  });

  it('is refused when the run has ended', async () => {
    const run = await testRun(member('one'), { input: 'Go.', model: scripts({ one: [{ text: 'Done.' }] }), tools });
    await expect(run.upgrade(member('one'))).rejects.toMatchObject({ code: 'run-ended' });
  });
});
