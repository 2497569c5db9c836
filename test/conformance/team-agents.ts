import type { AgentMiddleware, HookContext, Json } from '../../workflows/index';
import { agentTool, breakLoopAction, loop, parallel, sequential, supervisor } from '../../workflows/index';
import { approval } from '../../middleware/index';
import { setSubAgents, withDeterministicTransfer } from '../../middleware/forms/index';
import type { Options } from './members';
import { member } from './members';

const note = (ctx: HookContext, data: Json): void => ctx.sendEvent('note', data);

const asking: AgentMiddleware = {
  name: 'asking',
  beforeAgent: async (_, ctx) => note(ctx, [ctx.agent, await ctx.interrupt<Json>(`${ctx.agent}?`)]),
};

const asker = <const Name extends string>(name: Name) => member(name, { middleware: [asking] });

export const inTurn = sequential({ name: 'inTurn', agents: [asker('first'), asker('second'), member('third'), member('fourth')] });

export const inRounds = loop({ name: 'inRounds', agents: [asker('writer'), asker('critic')], maxIterations: 2 });

export const besides = parallel({ name: 'besides', agents: [asker('left'), member('middle'), asker('right')] });

export const circleA = setSubAgents(member('circleA'), [member('circleB'), asker('circleC')]);

const wrapping: AgentMiddleware = {
  name: 'wrapping',
  async wrapToolCall(call, next, ctx) {
    note(ctx, 'entered');
    const [output, answer] = await Promise.all([next(call), ctx.interrupt<Json>('Around?')]);
    note(ctx, ['left', answer]);
    return output;
  },
};

const graph = sequential({ name: 'graph', description: 'The graph.', agents: [member('node'), asker('deepNode')] });
export const holdsGraph = member('holdsGraph', { tools: [agentTool(graph)], middleware: [wrapping] });

export const outside = member('outside', { tools: [agentTool(member('inside', { tools: ['asks'] }))] });

const leftLane = sequential({ name: 'leftLane', agents: [member('l1'), parallel({ name: 'inner', agents: [asker('l2'), member('l3')] })] });
const rightLane = sequential({ name: 'rightLane', agents: [member('r1'), asker('r2')] });

export const lanes = sequential({
  name: 'lanes',
  agents: [member('opener'), parallel({ name: 'both', agents: [leftLane, rightLane] }), member('closer')],
});

export const desk = setSubAgents(member('desk'), [
  withDeterministicTransfer(member('clerk', { exitTool: true, middleware: [asking] }), { to: ['desk'] }),
]);

const breaking: AgentMiddleware = {
  name: 'breaking',
  wrapToolCall(call, next, ctx) {
    ctx.sendToolAction(breakLoopAction());
    return next(call);
  },
};

const approved = (...middleware: readonly AgentMiddleware[]): Options => ({
  tools: ['echo'],
  middleware: [...middleware, approval({ tools: { echo: true } })],
});

const crew = supervisor({
  name: 'crew',
  description: 'The crew.',
  supervisor: member('foreman'),
  agents: [member('worker', approved())],
});
const polish = loop({ name: 'polish', description: 'The polish.', agents: [member('polisher', approved(breaking))], maxIterations: 5 });

export const chief = supervisor({
  name: 'company',
  supervisor: member('chief'),
  agents: [crew, polish],
  observers: [
    {
      name: 'tracing',
      onStart: ({ kind, agent }, ctx) => note(ctx, ['start', kind, agent]),
      onEnd: (observed, ctx) => note(ctx, ['end', observed.agent, observed.kind === 'agent' ? observed.output : null]),
    },
  ],
});
