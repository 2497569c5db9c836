import { defined } from '../../contract/defined';
import { errorTable, HoldfastError, codeOf, isErrorCode, messageOf } from '../../contract/errors';
import type { LimitUse, ProjectFacts, ServiceProblem } from '../../contract/service-facts';

/** Undefined: the worker has not started. */
export interface FactsOfWorker {
  readonly modelIdOf: (name: string) => string | undefined;
  readonly useOfModels: (pattern: string) => LimitUse | undefined;
  readonly useOfTool: (tool: string) => LimitUse | undefined;
}

export function withFactsOfWorker(
  facts: ProjectFacts,
  { modelIdOf, useOfModels, useOfTool }: FactsOfWorker,
): { readonly facts: ProjectFacts; readonly problems: readonly ServiceProblem[] } {
  const problems: ServiceProblem[] = [];
  const models = facts.models.map((model) => {
    try {
      return { ...model, ...defined({ id: modelIdOf(model.name) }) };
    } catch (error) {
      // A model without an agent does not need a key.
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
