import { HoldfastError } from '../contract/plain/errors';
import { limits } from '../contract/plain/limits';
import type { Json, Part, StoredMessage, ToolCall } from '../contract/plain/messages';
import { textOf, toolCallsOf } from '../contract/plain/messages';
import type { Frame } from './frames';
import { failureOf } from './frames';
import type { HookAnswer } from './hooks';
import { appendShown, runAfterAgent, runAfterFailure, runBeforeAgent, runStateHooks } from './hooks';
import { modelStep } from './model-step';
import { observedAgent, observersOf } from './observers';
import { isCancellation } from './ports';
import type { AgentScope } from './scope';
import { exitTool } from './tool-plan';
import { toolStep } from './tool-step';

export interface AgentResult {
  readonly output: Json;
  readonly text: string;
}

/** The agent's loop: model, tools, model, until an answer stands. A record that went over a border goes on where it was. */
export function runAgentLoop(scope: AgentScope, root: Frame): Promise<AgentResult> {
  return observersOf(scope.agent).length === 0 ? loop(scope, root) : observedAgent(scope, root, () => loop(scope, root));
}

async function loop(scope: AgentScope, root: Frame): Promise<AgentResult> {
  const { run, record } = scope;
  if (record.turn === 0) {
    const setup = root.child('setup');
    const answer = await runBeforeAgent(scope, setup);
    const answered = answer === undefined ? undefined : await checkedAnswer(scope, resultOfHook(scope, answer, setup), setup);
    if (answered !== undefined) return answered;
    record.callable = record.tools;
    setup.close();
    record.turn = 1;
  }
  for (;;) {
    const border = run.ports.border();
    if (border !== undefined) await border;
    const iteration = root.child(`t${record.turn}`);
    let finished: AgentResult | undefined;
    try {
      finished = await iterate(scope, iteration);
    } catch (error) {
      if (isCancellation(error)) throw error;
      throw (await runAfterFailure(scope, failureOf(error), root)) ?? error;
    }
    if (finished !== undefined) {
      await runAfterAgent(scope, iteration);
      leave(scope, iteration);
      return finished;
    }
    leave(scope, iteration);
    record.turn += 1;
  }
}

function leave(scope: AgentScope, iteration: Frame): void {
  iteration.close();
  scope.run.borders.delete(scope.path.join('/'));
}

/** One iteration. Its state is put together from recorded results, so it can be entered again after a border. */
async function iterate(scope: AgentScope, iteration: Frame): Promise<AgentResult | undefined> {
  const { agent, record } = scope;
  const { has } = agent;
  scope.run.borders.set(scope.path.join('/'), { ...record });
  if (record.remaining <= 0) {
    throw new HoldfastError(
      'max-iterations',
      `Agent "${agent.name}" exceeds max iterations: the model was called ${agent.maxIterations} times without a final answer.`,
    );
  }
  record.remaining -= 1;
  if (has.beforeModelRewriteState) await runStateHooks('beforeModelRewriteState', scope, iteration);
  const answer = await modelStep(scope, iteration);
  record.messages = [...record.messages, answer];
  if (has.afterModelRewriteState) await runStateHooks('afterModelRewriteState', scope, iteration);
  const last = record.messages.at(-1);
  if (last === undefined)
    throw new HoldfastError('message-invalid', `No messages left in the state of agent "${agent.name}" after the model call.`);
  const calls = toolCallsOf(last);
  if (calls.length === 0) return checkedAnswer(scope, { output: textOf(last), text: textOf(last) }, iteration);
  const direct = await runTools(scope, calls, iteration);
  return direct === undefined ? undefined : checkedAnswer(scope, direct, iteration);
}

const mostCorrections = 2;

/** An answer with a schema is read by it. One that does not fit goes back to the model, which is told why; then the run fails. */
async function checkedAnswer(scope: AgentScope, answer: AgentResult, iteration: Frame): Promise<AgentResult | undefined> {
  const { run, agent, record } = scope;
  const { output } = agent;
  if (output === undefined) return answer;
  const parsed = await iteration.effect('output', () => run.ports.parseOutput(output, answer.text));
  if (parsed.ok) return { output: parsed.value, text: answer.text };
  const corrections = (record.corrections ?? 0) + 1;
  if (corrections > mostCorrections) {
    throw new HoldfastError(
      'output-invalid',
      `The answer of agent "${agent.name}" does not fit "${output}" after ${mostCorrections} corrections: ${parsed.message}`,
    );
  }
  record.corrections = corrections;
  const text = `Your answer does not fit the form that was asked for: ${parsed.message} Answer again, with the corrected JSON and nothing else.`;
  record.messages = [...record.messages, { id: run.ports.uuid(), role: 'user', parts: [{ type: 'text', text }] }];
  return undefined;
}

async function runTools(scope: AgentScope, calls: readonly ToolCall[], iteration: Frame): Promise<AgentResult | undefined> {
  const { record } = scope;
  if (calls.length > limits.toolCallsPerMessage) {
    throw new HoldfastError(
      'model-response-invalid',
      `The model made ${calls.length} tool calls in one message; at most ${limits.toolCallsPerMessage} are run.`,
    );
  }
  const directly = returnDirectlyPosition(scope, calls);
  const results = await toolStep(scope, calls, directly, iteration);
  record.messages = [...record.messages, ...results.map(({ message }) => message)];
  const answer = scope.agent.has.afterToolCalls ? await runStateHooks('afterToolCalls', scope, iteration) : undefined;
  if (answer !== undefined) return resultOfHook(scope, answer, iteration);
  if (directly === undefined || results[directly]?.error !== undefined) return undefined;
  return resultOf(results[directly]?.message);
}

/** Of several such calls in one message the last one counts. */
function returnDirectlyPosition(scope: AgentScope, calls: readonly ToolCall[]): number | undefined {
  const { agent, record } = scope;
  for (let position = calls.length - 1; position >= 0; position--) {
    const name = calls[position]?.name ?? '';
    if (record.returnDirectly.includes(name) || (agent.exitTool && name === exitTool)) return position;
  }
  return undefined;
}

function resultOfHook(scope: AgentScope, { message, isNew, middleware }: HookAnswer, frame: Frame): AgentResult {
  if (isNew) appendShown(scope, [message], middleware, frame);
  return message.role === 'tool' ? resultOf(message) : { output: textOf(message), text: textOf(message) };
}

function resultOf(message: StoredMessage | undefined): AgentResult {
  const part = message?.parts[0];
  if (part?.type !== 'tool-result') return { output: '', text: '' };
  const { output } = part;
  if (part.multipart === true) return { output, text: textOf({ role: 'tool', parts: output as unknown as readonly Part[] }) };
  return { output, text: typeof output === 'string' ? output : JSON.stringify(output) };
}
