import { checkOptions, flag, identifier, refusing, text } from '../../contract/check';
import type { Forms, Refuse } from '../../contract/check';
import { agentOfPath, toolSegment } from '../../contract/record/agent-paths';
import { contextMessage } from '../../contract/messages/context-messages';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { Json, JsonObject, StoredMessage, ToolCall } from '../../contract/messages/messages';
import { toolMessage } from '../../contract/messages/messages';
import { jsonSchema } from '../../contract/schema/schema-form';
import type { Agent } from '../define/agent-ref';
import { isAgent } from '../define/agent-ref';
import type { OwnToolRef } from '../define/middleware';
import { ownToolRef, parsedBy } from '../define/workflow-tools';
import type { AgentForTool, AgentScope, ToolInAgent } from '../run/scope';
import type { AnyAgent, OwnTool, AgentDefinition } from '../define/definition';
import { jobTaker, definitionOf } from '../define/definition';
import { textOfJob } from '../run/job';
import { runIsolated } from './isolated';
import type { AgentPlace } from '../run/place';
import { runApart } from './run-apart';
import { transferResult, transferTool } from '../define/transfer-names';
import { ToolError, errorOf, isCancellation, isStop } from '../effects/errors';

export interface AgentToolOptions {
  /** In place of the name of the agent. */
  readonly name?: string;
  /** In place of the description of the agent. */
  readonly description?: string;
  /**
   * A JSON Schema of the arguments, which the agent gets as JSON. Default: `{ request: string }`, whose text the agent gets. Not for an
   * agent with an `inputSchema`.
   */
  readonly inputSchema?: Json;
  /** The agent begins with the conversation so far, instead of with the arguments. */
  readonly fullHistory?: boolean;
  /** Shows the agent's events to readers of the run. Default: only the call and its result. */
  readonly forwardEvents?: boolean;
  /** Runs the agent as a separate workflow with its own history and log. */
  readonly isolate?: boolean;
}

const forms: Forms<AgentToolOptions> = {
  name: identifier,
  description: text,
  inputSchema: jsonSchema,
  fullHistory: flag,
  forwardEvents: flag,
  isolate: flag,
};

const requestSchema: Json = {
  type: 'object',
  properties: { request: { type: 'string', description: 'What the agent is to do.' } },
  required: ['request'],
  additionalProperties: false,
};

/**
 * An agent as a tool of another agent. The agent has its own conversation, and its answer is the result of the call.
 * @example
 * export const editor = defineAgent({
 *   name: 'editor',
 *   description: 'Makes pages.',
 *   instructions: 'Let the writer write each page.',
 *   model: 'default',
 *   tools: [agentTool(writer, { forwardEvents: true })],
 * });
 */
export function agentTool(agent: Agent<string, unknown, unknown>, options: AgentToolOptions = {}): OwnToolRef {
  if (!isAgent(agent))
    throw new HoldfastError('agent-invalid', 'agentTool takes an agent; make it with defineAgent, sequential, loop or another of these.');
  const defined = definitionOf(agent);
  const maker = `agentTool("${defined.name}")`;
  const given = checkOptions<AgentToolOptions>(maker, options, forms);
  const { name = defined.name, description = defined.description } = given;
  const { fullHistory = false, forwardEvents = false, isolate = false } = given;
  const refuse = refusing(maker);
  const taker = fullHistory ? undefined : jobWithSchema(defined, refuse);
  if (taker !== undefined && given.inputSchema !== undefined)
    refuse('the agent has an inputSchema of its own, which its jobs have to fit. Leave inputSchema out.');
  const inputSchema = given.inputSchema ?? taker?.inputSchema ?? requestSchema;
  if (description === '') refuse('an agent needs a description to become a tool: the model chooses by it.');
  if (isolate && forwardEvents) refuse('an isolated agent has a log of its own; its events cannot be forwarded. Leave forwardEvents out.');
  const spec = { name, description, inputSchema };
  return ownToolRef({
    spec,
    agents: [defined],
    parse: (input) => parsedBy(spec, input),
    run: async ({ scope, call, frame }: ToolInAgent) => {
      const messages = (): readonly StoredMessage[] =>
        fullHistory
          ? historyFor(scope, call, defined)
          : [request(scope, taker === undefined ? textOf(call, given) : textForJob(taker, call))];
      const nth = frame.once('agent', () => scope.run.nextAgentOfTools());
      const asked = { scope, frame, agent: defined, nth, messages, forwardEvents };
      return isolate ? isolatedAnswer(asked) : answerForTool(asked);
    },
  } satisfies OwnTool);
}

export async function answerForTool(asked: AgentForTool): Promise<string> {
  const { scope, agent, messages } = asked;
  try {
    const end = await runApart(scope.run, agent, placeFor(asked), messages);
    if (end.silent === true) throw withoutEvent(agent.name);
    return end.text;
  } catch (error) {
    throw failedAs(agent.name, error);
  }
}

function placeFor({ scope, frame, agent, nth, forwardEvents = false }: AgentForTool): Pick<AgentPlace, 'path' | 'frame'> {
  const segment = toolSegment(agent.name, nth, forwardEvents);
  return { path: [...scope.path, segment], frame: frame.child(segment) };
}

async function isolatedAnswer(asked: AgentForTool): Promise<string> {
  const { scope, agent, messages } = asked;
  const end = await runIsolated(scope.run, agent, placeFor({ ...asked, forwardEvents: true }), messages);
  Object.assign(scope.run.state.session, end.session);
  if ('failed' in end) {
    const { code, message } = end.failed;
    if (code === 'stopped') throw errorOf(end.failed);
    throw new ToolError(code === 'child-cancelled' ? end.failed : { code: 'tool-failed', message: `${message} (${code})` }, undefined);
  }
  if (end.silent === true) throw withoutEvent(agent.name);
  return end.text;
}

function withoutEvent(name: string): ToolError {
  return new ToolError({ code: 'tool-failed', message: `The agent '${name}' ended without an event.` }, undefined);
}

function jobWithSchema(agent: AnyAgent, refuse: Refuse): AgentDefinition | undefined {
  const taker = jobTaker(agent);
  if (taker?.inputSchema === undefined) return undefined;
  if ((taker.inputSchema as JsonObject)['type'] !== 'object')
    refuse('the inputSchema of an agent must be that of an object for the agent to become a tool: { type: "object", properties: { … } }.');
  return taker;
}

function textOf({ input }: ToolCall, { inputSchema }: AgentToolOptions): string {
  return inputSchema === undefined ? (input as { readonly request: string }).request : JSON.stringify(input);
}

/** A layer may have changed the arguments after the check. */
function textForJob(taker: AgentDefinition, { input }: ToolCall): string {
  try {
    return textOfJob(taker, input);
  } catch (error) {
    if (codeOf(error) !== 'input-invalid') throw error;
    throw new ToolError({ code: 'tool-input-invalid', message: messageOf(error) }, undefined);
  }
}

function request({ run }: AgentScope, text: string): StoredMessage {
  return { id: run.ports.uuid(), role: 'user', parts: [{ type: 'text', text }] };
}

function historyFor({ run, path, record }: AgentScope, call: ToolCall, { name }: AnyAgent): readonly StoredMessage[] {
  const agent = agentOfPath(path);
  const calling = record.messages
    .map(({ parts }) => parts.some((part) => part.type === 'tool-call' && part.id === call.id))
    .lastIndexOf(true);
  const said = (calling === -1 ? record.messages : record.messages.slice(0, calling)).filter(({ role }) => role !== 'system');
  const transfer = { id: run.ports.uuid(), name: transferTool, input: { agent_name: name } };
  const words: readonly StoredMessage[] = [
    { id: run.ports.uuid(), role: 'assistant', parts: [{ type: 'tool-call', ...transfer }] },
    toolMessage(run.ports.uuid(), transfer, transferResult(name)),
  ];
  return [
    ...said.map((message) => (message.role === 'user' ? message : contextMessage(agent, message))),
    // Both messages are new to the history, so they stand whole under their own ids.
    ...words.map((message) => ({ ...contextMessage(agent, message), id: message.id })),
  ];
}

/** The model gets the failure; a stop and a cancellation end the run. */
function failedAs(name: string, error: unknown): unknown {
  if (isCancellation(error) || isStop(error) || error instanceof ToolError || codeOf(error) === 'frame-changed') return error;
  return new ToolError(
    { code: 'tool-failed', message: `The agent '${name}' failed: ${messageOf(error).slice(0, limits.errorMessage)}` },
    undefined,
  );
}
