import * as agents from '__holdfast_agents__';
import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { setWorkflowOptions } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { agentsOf } from '../kernel/define/agents-of-module';
import { serveAgents } from './agent-run';
import { taskPush } from './task-push';
import { isVersioned, serveTrials } from './upgrade';

// A worker loads the module before it polls, and ends here instead of taking runs that it can only fail.
if (agentsOf(agents).size === 0)
  throw new HoldfastError(
    'agents-invalid',
    'in the sandbox it exports no agent. Export what defineAgent returns, itself and not a promise of it.',
  );

/** The bundle's workflow. The bundler puts a project's agents module in place of the name above. */
export const agentRun = serveAgents(agents);

/** Says of a run of an older build whether it can go on under this one. */
export const agentTrial = serveTrials(agentsOf(agents));

/** It keeps no code of users, so it goes on in the newest build. */
const newest = (): WorkflowDefinitionOptions => (isVersioned() ? { versioningBehavior: 'AUTO_UPGRADE' } : {});

export { taskPush };
setWorkflowOptions(newest, taskPush);
