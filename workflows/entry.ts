import * as agents from '__holdfast_agents__';
import { setWorkflowOptions } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { agentsOf } from '../kernel/define/agents-of-module';
import { serveAgents } from './agent-run';
import { taskPush } from './task-push';
import { inNewestBuild, serveTrials } from './upgrade';

// A worker loads the module before it polls, and ends here instead of failing runs.
if (agentsOf(agents).size === 0)
  throw new HoldfastError(
    'agents-invalid',
    'in the sandbox it exports no agent. Export what defineAgent returns, itself and not a promise of it.',
  );

/** The workflow of the bundle. The bundler replaces the name above by the project's agents module. */
export const agentRun = serveAgents(agents);

/** Says whether a run of an older build can go on under this build. */
export const agentTrial = serveTrials(agentsOf(agents));

export { taskPush };
setWorkflowOptions(inNewestBuild, taskPush);
