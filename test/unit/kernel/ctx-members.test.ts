import type { Agent, AgentMiddleware, HookContext, WorkflowTool } from 'holdfast/workflow';
import type { Invocation } from 'holdfast/callbacks';
import { callbacks, plugin } from 'holdfast/callbacks';
import { chatMiddleware } from 'holdfast/eino';
import { parallel } from 'holdfast/workflow';
import type { ScriptedStep, TestRun } from 'holdfast/testing';
import { testRun } from 'holdfast/testing';
import { canonicalJson } from '../../../contract/messages/messages';
import { agentUnder, echo, logOf, only, startRun, tools } from '../../support/memory-bed';
import { byHand, member, scripts } from '../../support/team-bed';

/**
 * Members of code in the workflow. `fixed`: equal in the whole run, or in the whole hook. `kept`: may change while code waits, so reads are
 * recorded. `effects`: numbered. A new member must be classified.
 */
const membersOf: Readonly<Record<string, Readonly<Partial<Record<'fixed' | 'kept' | 'effects', string>>>>> = {
  ctx: {
    fixed:
      'agent runPath placeInRun runId values lastAnswer language iteration userMessage directAnswer callsBeside toolCall messages ' +
      'nameOfTool namedCall namedCalls isFromOthers factsOfMiddleware',
    kept: 'usage sendToolAction toolFacts',
    effects: 'session runLocal sendEvent ensureMessageId interrupt approve parse call model sleep now random runAgent race within',
  },
  session: { effects: 'get set' },
  runLocal: { effects: 'get set delete' },
  invocation: { fixed: 'agent runId userMessage ctx', kept: 'usage', effects: 'state' },
  state: { effects: 'get set delete' },
  'args of beforeAgent': { fixed: 'invocation values' },
  'args of afterAgent': { fixed: 'invocation values response error' },
  'args of beforeModel': { fixed: 'invocation values request' },
  'args of afterModel': { fixed: 'invocation values request response error' },
  'args of beforeTool': { fixed: 'invocation values toolCallId toolName arguments' },
  'args of afterTool': { fixed: 'invocation values toolCallId toolName arguments result error' },
  beforeAgent: { fixed: 'instructions tools returnDirectly' },
  beforeModelRewriteState: { fixed: 'messages tools' },
  afterModelRewriteState: { fixed: 'messages tools' },
  afterToolCalls: { fixed: 'messages tools' },
  afterAgent: { fixed: 'messages tools' },
  afterFailure: { fixed: 'code message' },
  wrapModel: { fixed: 'instructions messages tools model' },
  wrapToolCall: { fixed: 'id name input inputHash' },
  'onStart agent': { fixed: 'kind agent runId id input', kept: 'startedAt' },
  'onEnd agent': { fixed: 'kind agent runId id output', kept: 'startedAt endedAt usage' },
  'onError agent': { fixed: 'kind agent runId id error', kept: 'startedAt endedAt' },
  'onStart model': { fixed: 'kind agent runId id model request', kept: 'startedAt' },
  'onEnd model': { fixed: 'kind agent runId id model response', kept: 'startedAt endedAt' },
  'onError model': { fixed: 'kind agent runId id model error', kept: 'startedAt endedAt' },
  'onStart tool': { fixed: 'kind agent runId id tool callId input options', kept: 'startedAt' },
  'onEnd tool': { fixed: 'kind agent runId id tool callId output', kept: 'startedAt endedAt' },
  'onError tool': { fixed: 'kind agent runId id tool callId error', kept: 'startedAt endedAt' },
  execute: { fixed: 'of' },
  run: { fixed: 'messages streaming options' },
};
const namesIn = (list = ''): readonly string[] => list.split(' ').filter((name) => name !== '');

const asked: Readonly<Partial<Record<keyof HookContext, (ctx: HookContext) => unknown>>> = {
  toolFacts: (ctx) => [ctx.toolFacts('echo') ?? null, ctx.toolFacts('none') ?? null],
  nameOfTool: (ctx) => ctx.nameOfTool('echo'),
  namedCall: (ctx) => ctx.namedCall({ id: 'c', ...echo('x') }),
  namedCalls: () => 'those of a message, each as namedCall has it',
  isFromOthers: (ctx) => ctx.isFromOthers({ id: 'm' }),
  factsOfMiddleware: (ctx) => ctx.factsOfMiddleware('level'),
};

class Sightings {
  readonly members = new Map<string, Set<string>>();
  readonly seen = new Map<string, string[]>();
  private readonly usages = new Map<string, Set<string>>();

  private note(kind: string, object: object): void {
    const known = this.members.get(kind) ?? new Set();
    this.members.set(kind, known);
    for (const key of Reflect.ownKeys(object)) known.add(String(key));
    // Members come from the class or from the wrapped context.
    if (kind !== 'ctx') return;
    for (let at: unknown = Object.getPrototypeOf(object); at !== Object.prototype; at = Object.getPrototypeOf(at))
      for (const key of Object.getOwnPropertyNames(at)) if (key !== 'constructor') known.add(key);
  }

  entries = 0;

  async look(where: string, ctx: HookContext, given: object, isNoted = true): Promise<void> {
    this.note('ctx', ctx);
    this.note('session', ctx.session);
    this.note('runLocal', ctx.runLocal);
    if (isNoted) this.note(where, given);
    this.entries += 1;
    const { tool, toolName, name, kind } = given as Readonly<Record<'tool' | 'toolName' | 'name' | 'kind', string | undefined>>;
    const place = [where, ctx.iteration, kind, tool ?? toolName ?? name].join(' ');
    const members = [...namesIn(membersOf['ctx']?.fixed), 'usage'] as (keyof HookContext)[];
    const read = (): string => canonicalJson([given, ...members.map((member) => asked[member]?.(ctx) ?? ctx[member])]);
    const saw = (part: string, values: unknown): void =>
      void this.seen.set(`${place}: ${part}`, [...(this.seen.get(`${place}: ${part}`) ?? []), canonicalJson(values)]);
    saw('at first', [read(), ctx.now(), ctx.random(), ctx.session.get('n') ?? null, ctx.runLocal.get('n') ?? null]);
    const before = ctx.usage;
    await ctx.interrupt(place);
    saw('later', [read(), ctx.now(), ctx.session.get('n') ?? null]);
    const moved = this.usages.get(place) ?? new Set();
    this.usages.set(place, moved.add(canonicalJson(before)).add(canonicalJson(ctx.usage)));
    await ctx.interrupt(`${place} again`);
  }

  invoke(where: string, args: { readonly invocation: Invocation }): Promise<void> {
    const { invocation } = args;
    this.note('invocation', invocation);
    this.note('state', invocation.state);
    const { invocation: _, ...given } = args;
    this.note(where, args);
    const ctx = invocation.ctx as HookContext;
    return this.look(where, ctx, { ...given, usage: invocation.usage, userMessage: invocation.userMessage }, false);
  }

  get moved(): number {
    return [...this.usages.values()].filter(({ size }) => size > 1).length;
  }
}

const spends: { readonly usage: { readonly inputTokens: number; readonly outputTokens: number } } = {
  usage: { inputTokens: 5, outputTokens: 1 },
};
const asks: AgentMiddleware = {
  name: 'asks',
  beforeModelRewriteState: async (_, ctx) => void (await ctx.interrupt(`spender ${ctx.iteration}`)),
};
const spender = member('spender', { tools: ['echo'], middleware: [asks], maxIterations: 400 });
const steps = { spender: Array.from({ length: 300 }, () => ({ toolCalls: [echo('x')], ...spends })) };

/** Answers until only the spender is left; at every wait, usage and time grow and the run continues as new. */
async function playBeside(run: TestRun): Promise<void> {
  for (;;) {
    const open = await run.interrupts();
    const mine = open.find(({ agent }) => agent !== 'spender');
    const its = open.find(({ agent }) => agent === 'spender');
    if (mine === undefined) return;
    await run.goOnAsNew();
    if (its !== undefined) await run.resume(its.id, true);
    await run.advance('1m');
    await run.goOnAsNew();
    await run.resume(mine.id, true);
  }
}

function looking(sight: Sightings): AgentMiddleware {
  const observe = (hook: string) => (observed: { readonly kind: string }, ctx: HookContext) =>
    sight.look(`${hook} ${observed.kind}`, ctx, observed);
  return {
    name: 'looking',
    onStart: observe('onStart'),
    onEnd: observe('onEnd'),
    onError: observe('onError'),
    beforeAgent: (setup, ctx) => sight.look('beforeAgent', ctx, setup),
    beforeModelRewriteState: (state, ctx) => sight.look('beforeModelRewriteState', ctx, state),
    afterModelRewriteState: (state, ctx) => sight.look('afterModelRewriteState', ctx, state),
    afterToolCalls: (state, ctx) => sight.look('afterToolCalls', ctx, state),
    afterAgent: (state, ctx) => sight.look('afterAgent', ctx, state),
    afterFailure: (failure, _, ctx) => sight.look('afterFailure', ctx, failure),
    wrapModel: async (request, next, ctx) => {
      await sight.look('wrapModel', ctx, request);
      return next(request);
    },
    wrapToolCall: async (call, next, ctx) => {
      await sight.look('wrapToolCall', ctx, call);
      return next(call);
    },
  };
}

const own = (sight: Sightings): WorkflowTool => ({
  name: 'own',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  execute: async (input, ctx) => {
    await sight.look('execute', ctx, input as object);
    return 'Looked.';
  },
});

type AnyAgent = Agent<string, string, unknown>;

const calledBack = (sight: Sightings): AgentMiddleware => {
  const look = (place: string) => (args: { readonly invocation: Invocation }) => sight.invoke(`args of ${place}`, args);
  return callbacks({
    plugins: [
      plugin({
        name: 'looking',
        beforeAgent: look('beforeAgent'),
        afterAgent: look('afterAgent'),
        beforeModel: look('beforeModel'),
        afterModel: look('afterModel'),
        beforeTool: look('beforeTool'),
        afterTool: look('afterTool'),
      }),
    ],
  });
};

const madeByHand = (sight: Sightings): AnyAgent =>
  byHand('watcher', async function* (input, ctx) {
    await sight.look('run', ctx, input);
    yield { output: 'Looked.' };
  });

const scenes: readonly [string, (sight: Sightings) => AnyAgent, readonly ScriptedStep[]][] = [
  [
    'hooks, wraps, observers and tools of an agent',
    (sight) => member('watcher', { tools: ['echo', 'fail', own(sight)], middleware: [looking(sight)] }),
    [
      { toolCalls: [echo('a'), { name: 'fail', input: {} }], ...spends },
      { toolCalls: [{ name: 'own', input: { of: 1 } }] },
      { text: 'Done.' },
    ],
  ],
  ['hooks of an agent that fails', (sight) => member('watcher', { middleware: [looking(sight)] }), [{ error: 'Out of order.' }]],
  [
    'hooks that see chat messages',
    (sight) => member('watcher', { middleware: [chatMiddleware(looking(sight) as never)] }),
    [{ text: 'Done.' }],
  ],
  [
    'callbacks',
    (sight) => member('watcher', { tools: ['echo', 'fail'], middleware: [calledBack(sight)] }),
    [{ toolCalls: [echo('a'), { name: 'fail', input: {} }] }, { text: 'Done.' }],
  ],
  ['callbacks of an agent that fails', (sight) => member('watcher', { middleware: [calledBack(sight)] }), [{ error: 'Out of order.' }]],
  ['an agent that is made by hand', madeByHand, []],
];

async function playScene(watcher: (sight: Sightings) => AnyAgent, its: readonly ScriptedStep[]): Promise<Sightings> {
  const sight = new Sightings();
  const run = await testRun(parallel({ name: 'both', agents: [watcher(sight), spender] }), {
    input: 'Go.',
    model: scripts({ ...steps, watcher: its }),
    tools,
    values: { given: 1 },
  });
  await playBeside(run);
  const failed = (await logOf(run)).flatMap((event) => (event.type === 'agent-end' && event.error !== undefined ? [event.error.code] : []));
  expect(failed.filter((code) => code !== 'model-failed')).toEqual([]);
  return sight;
}

describe('what code in the workflow sees', () => {
  it.each(scenes)('is what it saw, when it is entered again beside an agent that spends: %s', async (_, watcher, its) => {
    const sight = await playScene(watcher, its);
    expect(sight.seen.size).toBeGreaterThan(0);
    expect([...sight.seen].filter(([, entries]) => new Set(entries).size !== 1).map(([place]) => place)).toEqual([]);
    expect(sight.entries).toBeGreaterThan(sight.seen.size);
    expect(2 * sight.moved).toBe(sight.seen.size);
  });

  it('stands in one list, whatever it is given: a new member has to say whether it can change', async () => {
    const found = new Map<string, Set<string>>();
    for (const [, watcher, its] of scenes)
      for (const [kind, members] of (await playScene(watcher, its)).members)
        found.set(kind, new Set([...(found.get(kind) ?? []), ...members]));
    const listed = Object.entries(membersOf).map(([kind, { fixed, kept, effects }]) => [
      kind,
      [fixed, kept, effects].flatMap(namesIn).sort(),
    ]);
    expect(Object.fromEntries([...found].map(([kind, members]) => [kind, [...members].sort()]))).toEqual(Object.fromEntries(listed));
  });

  it('is what a hook went by that asks when little is used, and others have used more by the time it is answered', async () => {
    const thrifty: AgentMiddleware = {
      name: 'thrifty',
      beforeModelRewriteState: async (_, ctx) => {
        if (ctx.usage.inputTokens > 3) return ctx.sleep('1h');
        ctx.sendEvent('asked', await ctx.interrupt<string>('Go on?'));
      },
    };
    const run = await testRun(parallel({ name: 'both', agents: [member('watcher', { middleware: [thrifty] }), spender] }), {
      input: 'Go.',
      model: scripts({ ...steps, watcher: [{ text: 'Done.' }] }),
      tools,
    });
    await playBeside(run);
    const log = await logOf(run);
    expect(log.find(({ type }) => type === 'custom')).toMatchObject({ data: true });
    expect(log.find((event) => event.type === 'agent-end' && event.agent === 'watcher')).not.toHaveProperty('error');
  });

  it('is not said over again: of the actions of a call the last one counts, on whichever side of a continue-as-new it was sent', async () => {
    const outer: AgentMiddleware = {
      name: 'outer',
      wrapToolCall: async (call, next, ctx) => {
        ctx.sendToolAction('outer');
        const output = await next(call);
        await ctx.interrupt('Keep it?');
        return output;
      },
    };
    const inner: AgentMiddleware = { name: 'inner', wrapToolCall: (call, next, ctx) => (ctx.sendToolAction('inner'), next(call)) };
    const run = await startRun(agentUnder(outer, inner), [{ toolCalls: [echo('a')] }, { text: 'Done.' }]);
    const { id } = only(await run.interrupts());
    await run.goOnAsNew();
    await run.resume(id, true);
    expect((await logOf(run)).find(({ type }) => type === 'tool-end')).toMatchObject({ action: 'inner' });
  });
});
