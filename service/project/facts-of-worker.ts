import { defined } from '../../contract/defined';
import { errorTable, HoldfastError, codeOf, isErrorCode, messageOf } from '../../contract/errors';
import type { LimitUse, ProjectFacts, ServiceProblem } from '../../contract/service-facts';

/** What the worker of this process knows. Undefined: it is not there yet. */
export interface FactsOfWorker {
  /** What a name of a model means. It throws what is missing. */
  readonly modelIdOf: (name: string) => string | undefined;
  /** What its calls take of a limit of models, or of a tool. */
  readonly useOfModels: (pattern: string) => LimitUse | undefined;
  readonly useOfTool: (tool: string) => LimitUse | undefined;
}

/** The facts of a project with what its models mean on a worker, what keeps them from being used, and what the worker's calls take of limits. */
export function withFactsOfWorker(
  facts: ProjectFacts,
  { modelIdOf, useOfModels, useOfTool }: FactsOfWorker,
): { readonly facts: ProjectFacts; readonly problems: readonly ServiceProblem[] } {
  const problems: ServiceProblem[] = [];
  const models = facts.models.map((model) => {
    try {
      return { ...model, ...defined({ id: modelIdOf(model.name) }) };
    } catch (error) {
      // A model that no agent names harms nobody.
      if (facts.agents.some((agent) => agent.model === model.name)) problems.push(problemOf(error));
      return model;
    }
  });
  const limits = facts.limits.map((limit) => ({ ...limit, ...defined({ use: useOfModels(limit.models) }) }));
  const tools = facts.tools.map((tool) => (tool.concurrency === undefined ? tool : { ...tool, ...defined({ use: useOfTool(tool.name) }) }));
  return { facts: { ...facts, models, limits, tools }, problems };
}

function problemOf(error: unknown): ServiceProblem {
  const found = codeOf(error);
  const code = isErrorCode(found) ? found : 'internal';
  return { code, message: messageOf(new HoldfastError(code, messageOf(error))), fix: errorTable[code].fix };
}
