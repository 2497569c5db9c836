import { defined } from '../contract/defined';
import { HoldfastError } from '../contract/errors';
import type { Manifest, ManifestRequest, ModelFacts, ToolFacts } from '../contract/manifest';
import { jsonSize, limits } from '../contract/limits';
import type { Json } from '../contract/messages/messages';
import { misfitOfAlias } from '../contract/schema/arguments-of-schema';
import { similarNames } from '../contract/similar-names';
import type { WorkerParts } from './parts';

/** What this worker knows of what a run names. What it lacks fails here, before anything else is scheduled. */
export function manifestFor(request: ManifestRequest, parts: Omit<WorkerParts, 'messages' | 'deltas'>): Manifest {
  const { tools, models, middleware, outputs } = parts;
  const unknown = request.tools.find((name) => tools.factsOf(name) === undefined);
  if (unknown !== undefined)
    throw new HoldfastError(
      'tool-unknown',
      `The agent names the tool "${unknown}".${meant(unknown, tools.names)} The worker has: ${tools.names.join(', ') || 'none'}.`,
    );
  const missing = request.workerMiddleware.find((name) => !middleware.has(name));
  if (missing !== undefined)
    throw new HoldfastError(
      'worker-half-missing',
      `The agent names the worker middleware "${missing}". The worker has: ${middleware.names.join(', ') || 'none'}.`,
    );
  const unfit = (request.outputs ?? []).find((name) => !outputs.has(name));
  if (unfit !== undefined)
    throw new HoldfastError(
      'output-unknown',
      `The agent names the output "${unfit}". The worker has: ${outputs.names.join(', ') || 'none'}.`,
    );
  const policies = policiesIn(request, parts);
  const held = Object.values(policies ?? {}).flat();
  const askedAbout = policies === undefined ? request.askedAbout : [...new Set([...(request.askedAbout ?? []), ...held])];
  for (const [tool, aliases] of Object.entries(request.argumentAliases)) {
    const clash = aliases.find((alias) => tools.propertiesOf(tool).includes(alias));
    if (clash !== undefined)
      refuseAlias(request, tool, `the argument alias "${clash}" of tool "${tool}" is an argument of the tool itself.`);
    for (const argument of request.aliasedArguments?.[tool] ?? []) {
      const misfit = misfitOfAlias(tool, argument, tools.specOf(tool)?.inputSchema);
      if (misfit !== undefined) refuseAlias(request, tool, misfit);
    }
  }
  return {
    version: 1,
    language: request.language ?? parts.language,
    defaults: { tool: parts.toolDefaults, model: parts.modelFacts },
    tools: Object.fromEntries(tools.names.map((name) => [name, differing(tools.factsOf(name) as ToolFacts, parts.toolDefaults)])),
    models: Object.fromEntries(request.models.map((name) => [name, models.idOf(name)])),
    workerMiddleware: request.workerMiddleware,
    ...defined({ outputs: request.outputs, policies, schemas: askedAbout && schemasOf(askedAbout, parts) }),
  };
}

/** The tools that the named policies hold. */
function policiesIn(request: ManifestRequest, { policies = new Map() }: Pick<WorkerParts, 'policies'>): Manifest['policies'] {
  const unknown = request.policies?.find((name) => !policies.has(name));
  if (unknown !== undefined)
    throw new HoldfastError(
      'policy-unknown',
      `The agent names the policy "${unknown}".${meant(unknown, [...policies.keys()])} The worker has: ${[...policies.keys()].join(', ') || 'none'}.`,
    );
  return request.policies && Object.fromEntries(request.policies.map((name) => [name, policies.get(name)?.tools ?? []]));
}

/** Long ones are left out: they would stand in the history with each question. */
function schemasOf(tools: readonly string[], parts: Pick<WorkerParts, 'tools'>): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    tools.flatMap((tool) => {
      const schema = parts.tools.specOf(tool)?.inputSchema;
      return schema === undefined || jsonSize(schema) > limits.interruptSchema ? [] : [[tool, schema] as const];
    }),
  );
}

function refuseAlias({ aliasesOfStart }: ManifestRequest, tool: string, problem: string): never {
  if (aliasesOfStart?.includes(tool) === true) throw new HoldfastError('options-invalid', `The options of the start: ${problem}`);
  throw new HoldfastError('agent-invalid', `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`);
}

function meant(unknown: string, names: readonly string[]): string {
  const [near] = similarNames(unknown, names);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

function differing(facts: ToolFacts, defaults: ToolFacts): Partial<ToolFacts> {
  return Object.fromEntries(Object.entries(facts).filter(([key, value]) => defaults[key as keyof ToolFacts] !== value));
}

export type { ModelFacts };
