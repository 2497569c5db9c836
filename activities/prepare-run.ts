import { defined } from '../contract/defined';
import { HoldfastError } from '../contract/errors';
import type { Manifest, ManifestRequest, McpTool, ToolFacts } from '../contract/manifest';
import { jsonSize, limits } from '../contract/limits';
import type { Json } from '../contract/messages/messages';
import { misfitOfAlias } from '../contract/schema/arguments-of-schema';
import { similarNames } from '../contract/similar-names';
import type { McpOfferedTool } from './mcp/server';
import type { WorkerParts } from './parts';

type PreparingParts = Omit<WorkerParts, 'messages' | 'deltas'>;

/** A missing part fails before the run schedules any work. */
export async function manifestFor(request: ManifestRequest, given: PreparingParts): Promise<Manifest> {
  const offered = await offeredTo(request, given);
  const tools = given.mcp === undefined ? given.tools : given.tools.with(given.mcp.registryOf(offered, given.toolDefaults));
  const parts = { ...given, tools };
  const { models, middleware, outputs } = parts;
  refuseUnknown('tool', request.tools, tools.names);
  refuseUnknown('worker middleware', request.workerMiddleware, middleware.names);
  refuseUnknown('output', request.outputs, outputs.names);
  refuseUnknown('policy', request.policies, [...(parts.policies?.keys() ?? [])]);
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
  const manifest: Manifest = {
    version: 1,
    language: request.language ?? parts.language,
    defaults: { tool: parts.toolDefaults, model: parts.modelFacts },
    tools: Object.fromEntries(tools.names.map((name) => [name, differing(tools.factsOf(name) as ToolFacts, parts.toolDefaults)])),
    models: Object.fromEntries(request.models.map((name) => [name, models.idOf(name)])),
    workerMiddleware: request.workerMiddleware,
    ...defined({ outputs: request.outputs, policies, schemas: askedAbout && schemasOf(askedAbout, parts) }),
    ...(offered.length === 0 ? {} : { mcp: Object.fromEntries(offered.map(({ name, ...tool }) => [name, toldOf(tool)])) }),
  };
  const bytes = jsonSize(manifest);
  if (bytes <= limits.manifest) return manifest;
  const text = `The tools, schemas and policies of the run have ${bytes} bytes; at most ${limits.manifest} fit. Give the agent fewer tools.`;
  throw new HoldfastError('agent-invalid', text);
}

/** Tools of the worker win. Unknown tools of the start are errors of the start. */
async function offeredTo(
  { tenant, tools, otherTools = [], mcp: kept }: ManifestRequest,
  { mcp, tools: own }: PreparingParts,
): Promise<readonly McpOfferedTool[]> {
  if (mcp === undefined) return [];
  const others = [...new Set([...tools, ...otherTools])].filter((tool) => own.find(tool) === undefined);
  return mcp.offered(tenant, others, tools, kept);
}

function toldOf({ server, tool, description, inputSchema }: McpTool): McpTool {
  return { server, tool, description, inputSchema };
}

function policiesIn(request: ManifestRequest, { policies }: Pick<WorkerParts, 'policies'>): Manifest['policies'] {
  return request.policies && Object.fromEntries(request.policies.map((name) => [name, policies?.get(name)?.tools ?? []]));
}

const codes = {
  tool: 'tool-unknown',
  'worker middleware': 'worker-half-missing',
  output: 'output-unknown',
  policy: 'policy-unknown',
} as const;

function refuseUnknown(kind: keyof typeof codes, named: readonly string[] = [], known: readonly string[]): void {
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const [near] = similarNames(unknown, known);
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
  throw new HoldfastError(codes[kind], `The agent names the ${kind} "${unknown}".${meant} The worker has: ${known.join(', ') || 'none'}.`);
}

/** Leaves out long schemas, as the history would repeat a schema with each question. */
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

function differing(facts: ToolFacts, defaults: ToolFacts): Partial<ToolFacts> {
  return Object.fromEntries(Object.entries(facts).filter(([key, value]) => defaults[key as keyof ToolFacts] !== value));
}
