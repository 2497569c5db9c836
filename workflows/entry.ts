import * as agents from '__holdfast_agents__';
import { setWorkflowOptions } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { agentsOf } from '../kernel/define/agents-of-module';
import { serveAgents } from './agent-run';
import { agentBatch } from './batch';
import { taskPush } from './task-push';
import { inNewestBuild, serveTrials } from './upgrade';

// A worker loads the module before the first poll, so the worker fails instead of its runs.
if (agentsOf(agents).size === 0)
  throw new HoldfastError(
    'agents-invalid',
    'in the sandbox it exports no agent. Export what defineAgent returns, itself and not a promise of it.',
  );

/** The bundler replaces the import above by the project's agents module. */
export const agentRun = serveAgents(agents);

export const agentTrial = serveTrials(agentsOf(agents));

export { agentBatch, taskPush };
setWorkflowOptions(inNewestBuild, agentBatch);
setWorkflowOptions(inNewestBuild, taskPush);
