import * as agents from '__holdfast_agents__';
import * as workflows from '__holdfast_workflows__';
import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { setWorkflowOptions } from '@temporalio/workflow';
import { HoldfastError } from '../contract/errors';
import { names } from '../contract/names';
import { agentsOf } from '../kernel/define/agents-of-module';
import { serveAgents } from './agent-run';
import { agentsAreHere } from './agent-as-child';
import { agentBatch } from './batch';
import { taskPush } from './task-push';
import { inNewestBuild, isVersioned, serveTrials } from './upgrade';

// The bundler loads the module before any worker.
if (agentsOf(agents).size === 0)
  throw new HoldfastError(
    'agents-invalid',
    'in the sandbox the agents module exports no agent. Export what defineAgent returns, itself and not a promise of it.',
  );
for (const name of [names.workflow, names.trialWorkflow, names.pushWorkflow, names.batchWorkflow])
  if (Object.hasOwn(workflows, name))
    throw new HoldfastError('agents-invalid', `the workflows export '${name}', which is the name of a workflow of Holdfast. Rename it.`);

agentsAreHere();

/** Marks every bundle that has agents beside workflows. */
export const holdfastAgentsBeside = true;

/** Runs keep their first build, even beside workflows with another versioning behavior. */
const pinned = (): WorkflowDefinitionOptions => (isVersioned() ? { versioningBehavior: 'PINNED' } : {});

export const agentRun = serveAgents(agents);
setWorkflowOptions(pinned, agentRun);

export const agentTrial = serveTrials(agentsOf(agents));
setWorkflowOptions(pinned, agentTrial);

export { agentBatch, taskPush };
setWorkflowOptions(inNewestBuild, agentBatch);
setWorkflowOptions(inNewestBuild, taskPush);

/** Read dynamically, because most modules have no default export. */
const dynamic: unknown = Reflect.get(workflows, 'default');
export { dynamic as default };

// Only the bundle knows the exported names.
// eslint-disable-next-line no-restricted-syntax
export * from '__holdfast_workflows__';
