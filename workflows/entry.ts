import * as agents from '__holdfast_agents__';
import { serveAgents } from './agent-run';

/** The bundle's workflow. The bundler puts a project's agents module in place of the name above. */
export const agentRun = serveAgents(agents);
