import type { AgentMiddleware } from '../../workflows/index';
import { agentTool, loop, parallel, sequential } from '../../workflows/index';
import { setSubAgents } from '../../middleware/forms/index';
import { member } from './members';

const sleeping: AgentMiddleware = { name: 'sleeping', beforeAgent: (_, ctx) => ctx.sleep('10m') };

/** Stands far from any safe point. */
export const sleeper = member('sleeper', { middleware: [sleeping] });

export const cutSequence = sequential({ name: 'cutSequence', agents: [member('seqOne'), member('seqTwo')] });

export const cutLoop = loop({ name: 'cutLoop', agents: [member('looped')], maxIterations: 3 });

export const cutParallel = sequential({
  name: 'cutParallel',
  agents: [member('before'), parallel({ name: 'abreast', agents: [member('left'), member('right')] })],
});

export const cutTeam = setSubAgents(member('cutTeam'), [member('taker')]);

export const cutOuter = member('cutOuter', { tools: [agentTool(member('cutInner', { tools: ['echo'] }))] });

export const cutApart = member('cutApart', { tools: [agentTool(member('apart', { tools: ['echo'] }), { isolate: true })] });

export const embedding = member('embedding', {
  tools: [
    {
      name: 'delegate',
      description: 'Has somebody do it.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      agents: [member('embedded')],
      execute: (_, ctx) => ctx.runAgent('embedded', 'Do it.'),
    },
  ],
});
