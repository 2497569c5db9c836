import type { Forms, Refuse } from '../../contract/check';
import {
  form,
  func,
  identifier,
  isRecord,
  listOf,
  problemOfKnown,
  refusing,
  required,
  sentence,
  text,
  unknownField,
} from '../../contract/check';
import type { Manifest, ToolSpec } from '../../contract/manifest';
import { mcpToolOf } from '../../contract/manifest';
import type { Json } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { misfitOfArguments } from '../../contract/misfit-of-arguments';
import { misfitOfSchema } from '../../contract/schema/schema-fit';
import { jsonSchema } from '../../contract/schema/schema-form';
import { sha256 } from '../../contract/sha256';
import { shownName } from '../../contract/shown';
import { agentLabel } from './check-agent';
import type { ParseInputResult } from '../../contract/record/wire';
import type { Agent } from './agent-ref';
import { isAgent } from './agent-ref';
import type { AgentDefinition, OwnTool } from './definition';
import { definitionOf } from './definition';
import { exitTool as nameOfExit, transferTool } from './transfer-names';
import { frozen } from '../../contract/freeze';
import type { OwnToolRef, WorkflowTool } from './middleware';
import { ownMark } from './middleware';

export function ownToolRef(tool: OwnTool): OwnToolRef {
  return Object.freeze({ name: tool.spec.name, [ownMark]: tool });
}

interface NamedTools<Options> {
  readonly named: Omit<Options, 'tools'> & { readonly tools: readonly string[] };
  readonly ownTools: ReadonlyMap<string, OwnTool>;
}

/** The list keeps its names, and middlewares' tool names are appended. Invalid options pass, for the later check. */
export function ownToolsOf<Options extends object>(options: Options): NamedTools<Options> {
  const ownTools = new Map<string, OwnTool>();
  const { name, tools, middleware, exitTool } = (options ?? {}) as Partial<Record<'name' | 'tools' | 'middleware' | 'exitTool', unknown>>;
  if (!Array.isArray(tools)) return { named: options as never, ownTools };
  const refuse = refusing(agentLabel(name));
  const add = (tool: WorkflowTool | OwnToolRef): string => {
    if (!isRecord(tool)) return refuse('the tools of a middleware are workflow tools: { name, description, inputSchema, execute }.');
    const own = ownMark in tool ? (tool[ownMark] as OwnTool) : ownToolOf(tool, refuse);
    if (ownTools.has(own.spec.name)) refuse(`two tools are named "${own.spec.name}".`);
    if (own.spec.name === transferTool || (own.spec.name === nameOfExit && exitTool === true))
      refuse(`"${own.spec.name}" is the name of a tool that agents have by themselves; give this one another name.`);
    ownTools.set(own.spec.name, own);
    return own.spec.name;
  };
  const listed = (tools as readonly unknown[]).map((tool) => (isWorkflowTool(tool) ? add(tool) : tool));
  const brought = (Array.isArray(middleware) ? (middleware as readonly unknown[]) : []).flatMap((layer) => toolsOf(layer).map(add));
  const clash = brought.find((tool) => listed.includes(tool));
  if (clash !== undefined) refuse(`the tool "${clash}" comes with a middleware, and the agent has one of this name already.`);
  return { named: ownTools.size === 0 ? (options as never) : { ...options, tools: [...(listed as string[]), ...brought] }, ownTools };
}

function isWorkflowTool(tool: unknown): tool is WorkflowTool | OwnToolRef {
  // Worker tools have no name field, so a worker tool in the list is a mistake.
  return typeof tool === 'object' && tool !== null && 'name' in tool;
}

function toolsOf(layer: unknown): readonly (WorkflowTool | OwnToolRef)[] {
  const { tools } = (layer ?? {}) as { readonly tools?: unknown };
  return Array.isArray(tools) ? (tools as readonly (WorkflowTool | OwnToolRef)[]) : [];
}

const forms: Forms<WorkflowTool> = {
  name: required(identifier),
  description: required(text),
  inputSchema: required(jsonSchema),
  execute: required(func),
  agents: listOf(form(isAgent, 'an agent, made with defineAgent'), 'an array of agents'),
};

function ownToolOf(tool: WorkflowTool, refuse: Refuse): OwnTool {
  const problem = unknownField(tool, Object.keys(forms)) ?? problemOfKnown(tool, forms, (field) => field);
  if (problem !== undefined) refuse(`the workflow tool "${shownName(tool.name)}": ${sentence(problem)}`);
  const { agents } = tool;
  const spec = { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
  const parse: OwnTool['parse'] = (input) => parsedBy(spec, input);
  if (agents === undefined) return { spec, parse, run: async ({ call, ctx }) => tool.execute(frozen(call.input), ctx) };
  return {
    spec,
    agents: agents.map((agent) => definitionOf(agent as Agent)),
    parse,
    run: async ({ call, ctx, ended }) => {
      let output: Json;
      try {
        output = await tool.execute(frozen(call.input), ctx);
      } catch (error) {
        // The first error counts, as with Promise.all.
        await ended().catch(() => undefined);
        throw error;
      }
      await ended();
      return output;
    },
  };
}

function mcpSpecOf(manifest: Pick<Manifest, 'mcp'>, name: string): ToolSpec | undefined {
  const tool = mcpToolOf(manifest, name);
  return tool && { name, description: tool.description, inputSchema: tool.inputSchema };
}

export function parsedBy(spec: ToolSpec, input: Json): ParseInputResult {
  const misfit = misfitOfSchema(spec.inputSchema, input);
  if (misfit !== undefined) return { ok: false, message: misfitOfArguments(spec.name, input, misfit) };
  return { ok: true, hash: sha256(canonicalJson(input)).slice(0, 32) };
}

/** Workers know the other tools. */
export function specsOf(
  { ownTools }: AgentDefinition,
  manifest: Pick<Manifest, 'mcp'>,
  tools: readonly string[],
): readonly ToolSpec[] | undefined {
  const specs = tools.flatMap((name) => ownTools.get(name)?.spec ?? mcpSpecOf(manifest, name) ?? []);
  return specs.length === 0 ? undefined : specs;
}
