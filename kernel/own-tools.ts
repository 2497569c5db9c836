import { HoldfastError, messageOf, thrownCodeOf } from '../contract/plain/errors';
import { toolStart } from '../contract/plain/tool-outcomes';
import { jsonSize, limits } from '../contract/plain/limits';
import type { ToolSpec } from '../contract/plain/manifest';
import type { Json, ToolCall } from '../contract/plain/messages';
import { canonicalJson, notJson } from '../contract/plain/messages';
import { nameProblem } from '../contract/plain/names';
import { misfitOfArguments } from '../contract/plain/misfit-of-arguments';
import { misfitOfSchema } from '../contract/plain/schema-fit';
import { problemOfSchema } from '../contract/plain/schema-form';
import { sha256 } from '../contract/plain/sha256';
import { cut } from '../contract/plain/shown';
import type { ParseInputResult } from '../contract/plain/wire';
import type { AgentDefinition } from './agent';
import type { AnyAgent } from './agents/definition';
import { transferTool } from './agents/transfer-names';
import { hookContext } from './context';
import type { Frame } from './frames';
import { frozen } from './freeze';
import type { WorkflowTool } from './middleware';
import { isCancellation } from './ports';
import type { AgentScope } from './scope';
import type { ToolCallPlan, ToolDone } from './tool-call';
import { ToolError } from './tool-call';
import { exitTool as nameOfExit } from './tool-plan';
import { isToolProblem } from './tool-problems';

/** A tool that is answered inside of the run, as the kernel sees it. */
export interface OwnTool {
  readonly spec: ToolSpec;
  /** The agents that may answer, of an agent as a tool. */
  readonly agents?: readonly AnyAgent[];
  /** What arguments mean: the same as on a worker, without asking one. */
  parse(input: Json): ParseInputResult;
  run(scope: AgentScope, call: ToolCall, frame: Frame): Promise<Json>;
}

const ownMark = Symbol.for('holdfast.own-tool');

/** A tool that is more than what a user may write, in the list of an agent. */
export interface OwnToolRef {
  readonly name: string;
  readonly [ownMark]: OwnTool;
}

export function ownToolRef(tool: OwnTool): OwnToolRef {
  return Object.freeze({ name: tool.spec.name, [ownMark]: tool });
}

interface Named<Options> {
  readonly named: Omit<Options, 'tools'> & { readonly tools: readonly string[] };
  readonly ownTools: ReadonlyMap<string, OwnTool>;
}

/**
 * Takes the tools that the run itself answers out of an agent's options: those in its list, where their names stay, and those that come
 * with its middlewares, whose names are put behind. What is no agent's options passes, for the check that comes next.
 */
export function ownToolsOf<Options extends object>(options: Options): Named<Options> {
  const ownTools = new Map<string, OwnTool>();
  const { name, tools, middleware, exitTool } = (options ?? {}) as Partial<Record<'name' | 'tools' | 'middleware' | 'exitTool', unknown>>;
  if (!Array.isArray(tools)) return { named: options as never, ownTools };
  const refuse = (problem: string): never => {
    throw new HoldfastError(
      'agent-invalid',
      `${typeof name === 'string' ? `Agent "${cut(name)}"` : 'An agent without a name'}: ${problem}`,
    );
  };
  const add = (tool: WorkflowTool | OwnToolRef): string => {
    if (!isRecord(tool)) return refuse('the tools of a middleware are workflow tools: { name, description, inputSchema, execute }.');
    const own = ownMark in tool ? tool[ownMark] : ownToolOf(tool, refuse);
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
  // Tools of workers have no name of their own: one in the list is a mistake, and is told as such.
  return typeof tool === 'object' && tool !== null && 'name' in tool;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toolsOf(layer: unknown): readonly (WorkflowTool | OwnToolRef)[] {
  const { tools } = (layer ?? {}) as { readonly tools?: unknown };
  return Array.isArray(tools) ? (tools as readonly (WorkflowTool | OwnToolRef)[]) : [];
}

function ownToolOf(tool: WorkflowTool, refuse: (problem: string) => never): OwnTool {
  const { name, description, inputSchema, execute } = (tool ?? {}) as Partial<WorkflowTool>;
  const problem = nameProblem(name);
  if (problem !== undefined) refuse(`a workflow tool has no name that a tool can have: ${problem}.`);
  if (typeof description !== 'string') refuse(`the workflow tool "${String(name)}" has no description.`);
  if (typeof inputSchema !== 'object' || inputSchema === null || notJson(inputSchema) !== undefined)
    refuse(`inputSchema of the workflow tool "${String(name)}" is no JSON Schema.`);
  const unfit = problemOfSchema(inputSchema);
  if (unfit !== undefined) refuse(`inputSchema of the workflow tool "${String(name)}" is no JSON Schema: ${unfit}.`);
  if (typeof execute !== 'function') refuse(`execute of the workflow tool "${String(name)}" is no function.`);
  const spec = { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
  return {
    spec,
    parse: (input) => parsedBy(spec, input),
    run: async (scope, call, frame) => tool.execute(frozen(call.input), hookContext(scope, frame)),
  };
}

export function parsedBy(spec: ToolSpec, input: Json): ParseInputResult {
  const misfit = misfitOfSchema(spec.inputSchema, input);
  if (misfit !== undefined) return { ok: false, message: misfitOfArguments(spec.name, input, misfit) };
  return { ok: true, hash: sha256(canonicalJson(input)).slice(0, 32) };
}

/** What the model is told of the tools among these that no worker knows. */
export function specsOf({ ownTools }: AgentDefinition, tools: readonly string[]): readonly ToolSpec[] | undefined {
  if (ownTools.size === 0) return undefined;
  const specs = tools.flatMap((name) => ownTools.get(name)?.spec ?? []);
  return specs.length === 0 ? undefined : specs;
}

/** One call of an own tool to its end. */
export async function callOwnTool(scope: AgentScope, tool: OwnTool, frame: Frame, plan: ToolCallPlan): Promise<ToolDone> {
  const { run, path } = scope;
  const { call } = plan;
  const parsed = tool.parse(call.input);
  if (!parsed.ok) throw new ToolError({ code: 'tool-input-invalid', message: parsed.message }, undefined);
  frame.once('event', () => {
    const address = run.uniqueAddress(plan.address);
    run.ports.emit(toolStart(address, { path, tool: call.name, callId: call.id, input: call.input, address }));
  });
  const inner = frame.child(call.name, `the tool "${call.name}"`);
  try {
    const output = await frame.effect(`own:${call.name}`, () => tool.run(scope, call, inner));
    inner.close();
    frame.close();
    return { output: checkedOutput(call.name, output) };
  } catch (error) {
    // Its own code cannot cancel the run, whatever code it throws with.
    if (isCancellation(error) && run.ports.cancelled) throw error;
    inner.abandon();
    frame.abandon();
    throw problemOf(call.name, error);
  }
}

function checkedOutput(name: string, output: unknown): Json {
  const problem = output === undefined ? 'it is undefined' : notJson(output);
  if (problem !== undefined)
    throw new HoldfastError('tool-result-invalid', `The tool '${name}' returned something that is not JSON: ${problem}.`);
  const bytes = jsonSize(output);
  if (bytes > limits.toolResult)
    throw new HoldfastError(
      'tool-result-too-large',
      `The tool '${name}' returned ${bytes} bytes; at most ${limits.toolResult} are allowed.`,
    );
  return output as Json;
}

/** What has a code of another kind is no matter of the model's: it ends the run. */
function problemOf(name: string, error: unknown): unknown {
  if (error instanceof ToolError) return error;
  const code = thrownCodeOf(error);
  if (code !== undefined && !isToolProblem(error)) return error;
  const message = code === undefined ? `The tool '${name}' failed: ${messageOf(error).slice(0, limits.errorMessage)}` : messageOf(error);
  return new ToolError({ code: code ?? 'tool-failed', message }, undefined);
}
