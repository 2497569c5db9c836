import { HoldfastError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { ToolCall } from '../../contract/messages/messages';
import { textOf, toolCallsOf } from '../../contract/messages/messages';
import { splitCalls } from './external-calls';
import type { Frame } from '../effects/frames';
import type { HookAnswer } from '../hooks/hooks';
import { appendShown, runAfterAgent, runAfterFailure, runBeforeAgent, runStateHooks } from '../hooks/hooks';
import { countIteration, countToolIteration, refuseCallsInFinalAnswer } from './count-iterations';
import { endsHere, isStopped } from './joined-messages';
import { modelStep } from './model-step';
import { observedAgent, observersOf } from '../hooks/observers';
import { pendingCallsOf } from './pending-calls';
import { settleEnsured } from '../run/ensured';
import type { AgentScope } from '../run/scope';
import type { NamedCall } from '../run/tool-names';
import { namedCalls } from '../run/tool-names';
import { exitTool } from '../define/transfer-names';
import { toolStep } from './tool-step';
import { failureOf, isCancellation } from '../effects/errors';
import type { AgentResult } from '../run/agent-result';
import { resultOf } from '../run/agent-result';

export function runAgentLoop(scope: AgentScope, root: Frame): Promise<AgentResult> {
  return observersOf(scope.agent).length === 0 ? loop(scope, root) : observedAgent(scope, root, () => loop(scope, root));
}

async function loop(scope: AgentScope, root: Frame): Promise<AgentResult> {
  const { run, record } = scope;
  if (record.begins === true || (record.turn === 0 && record.resumes !== true)) {
    // Ids of interrupts derive from places, and each turn of a conversation has a setup.
    const setup = root.child('setup');
    let answer: HookAnswer | undefined;
    try {
      answer = await runBeforeAgent(scope, setup);
    } catch (error) {
      return cutShort(scope, setup, error);
    }
    if (answer !== undefined) return fittingAnswer(scope, answer, setup);
    record.callable = record.tools;
    setup.close();
    if (record.begins === true) delete record.begins;
    else if (beginsWithCalls(scope)) record.resumes = true;
    else record.turn = 1;
  }
  for (let isFirst = record.turn <= 1; ; isFirst = false) {
    if (!isFirst) run.cancels.at('after-tools', scope);
    const checkpoint = run.ports.checkpoint();
    if (checkpoint !== undefined) {
      await checkpoint;
      if (!isFirst) run.cancels.at('after-tools', scope);
    }
    if (run.inbox !== undefined && (await endsHere(scope, run.inbox))) return { output: '', text: '' };
    const iteration = root.child(`t${record.turn}`);
    let finished: AgentResult | undefined;
    try {
      finished = await iterate(scope, iteration);
    } catch (error) {
      if (isCancellation(error)) return cutShort(scope, iteration, error);
      throw (await runAfterFailure(scope, failureOf(error), root)) ?? error;
    }
    if (finished !== undefined) {
      try {
        await runAfterAgent(scope, iteration);
      } catch (error) {
        return cutShort(scope, iteration, error);
      }
      leave(scope, iteration);
      return finished;
    }
    leave(scope, iteration);
    record.turn += 1;
  }
}

/** Stopped during an answer or a question of a hook. A partial answer is kept. */
function cutShort(scope: AgentScope, iteration: Frame, error: unknown): AgentResult {
  if (!isCancellation(error) || !isStopped(scope)) throw error;
  const { inbox } = scope.run;
  if (inbox !== undefined) inbox.state.isCut = true;
  iteration.forget();
  scope.run.checkpoints.delete(scope.path.join('/'));
  return { output: '', text: '' };
}

function leave(scope: AgentScope, iteration: Frame): void {
  iteration.close();
  scope.run.checkpoints.delete(scope.path.join('/'));
}

/** Derived from recorded results, so an iteration can be re-entered after a continue-as-new. */
async function iterate(scope: AgentScope, iteration: Frame): Promise<AgentResult | undefined> {
  const { agent, record } = scope;
  const { has } = agent;
  scope.run.checkpoints.set(scope.path.join('/'), { ...record });
  settleEnsured(scope);
  if (record.turn === 0) return runPendingCalls(scope, iteration);
  countIteration(scope);
  if (has.beforeModelRewriteState) await runStateHooks('beforeModelRewriteState', scope, iteration);
  const answer = await modelStep(scope, iteration);
  record.messages = [...record.messages, answer];
  if (has.afterModelRewriteState) await runStateHooks('afterModelRewriteState', scope, iteration);
  const last = record.messages.at(-1);
  if (last === undefined)
    throw new HoldfastError('message-invalid', `No messages left in the state of agent "${agent.name}" after the model call.`);
  const calls = namedCalls(scope, toolCallsOf(last));
  if (calls.length === 0) return checkedAnswer(scope, { output: textOf(last), text: textOf(last) }, iteration);
  scope.run.cancels.at('after-model', scope);
  refuseCallsInFinalAnswer(scope, calls);
  const direct = await runTools(scope, calls, iteration);
  return direct === undefined ? undefined : checkedAnswer(scope, direct, iteration);
}

/** Turn 0 runs the calls at the end of the root agent's input. */
function beginsWithCalls({ run, path, record }: AgentScope): boolean {
  return run.state.runPendingToolCalls === true && path.length === 1 && pendingCallsOf(record.messages).length > 0;
}

async function runPendingCalls(scope: AgentScope, iteration: Frame): Promise<AgentResult | undefined> {
  const { record } = scope;
  const direct = await runTools(scope, namedCalls(scope, pendingCallsOf(record.messages)), iteration);
  const finished = direct === undefined ? undefined : await checkedAnswer(scope, direct, iteration);
  delete record.resumes;
  return finished;
}

/** A hook's misfitting answer gets no correction by the model. */
async function fittingAnswer(scope: AgentScope, answer: HookAnswer, setup: Frame): Promise<AgentResult> {
  const { run, agent } = scope;
  const { output } = agent;
  const result = resultOfHook(scope, answer, setup);
  if (output === undefined) return result;
  const parsed = await setup.effect('output', () => run.ports.parseOutput(setup.key, output, result.text));
  if (parsed.ok) return { output: parsed.value, text: result.text };
  throw new HoldfastError(
    'output-invalid',
    `The answer of beforeAgent of middleware "${answer.middleware}" does not fit "${output}" of agent "${agent.name}": ${parsed.message}`,
  );
}

const mostCorrections = 2;

/** A misfit goes back to the model; after two corrections the run fails. */
async function checkedAnswer(scope: AgentScope, answer: AgentResult, iteration: Frame): Promise<AgentResult | undefined> {
  const { run, agent, path, record } = scope;
  const { output } = agent;
  if (output === undefined || answer.pendingToolCalls !== undefined) return answer;
  const read = run.read.get(path.join('/'));
  // The worker has not read words that layers changed, and readings are lost at a continue-as-new.
  const parsed = await iteration.effect('output', async () =>
    read?.text === answer.text ? read.result : run.ports.parseOutput(iteration.key, output, answer.text),
  );
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

function runTools(scope: AgentScope, calls: readonly NamedCall[], iteration: Frame): Promise<AgentResult | undefined> {
  if (calls.length > limits.toolCallsPerMessage) {
    throw new HoldfastError(
      'model-response-invalid',
      `The model made ${calls.length} tool calls in one message; at most ${limits.toolCallsPerMessage} are run.`,
    );
  }
  const { own, external } = splitCalls(scope, calls);
  return external.length > 0 ? runBesideExternal(scope, own, external, iteration) : runOwn(scope, own, iteration);
}

/** The run's own calls come first, even if they fail. */
async function runBesideExternal(
  scope: AgentScope,
  own: readonly NamedCall[],
  external: readonly ToolCall[],
  iteration: Frame,
): Promise<AgentResult> {
  const asked = scope.record.messages.filter(({ role }) => role === 'assistant').at(-1);
  const text = asked === undefined ? '' : textOf(asked);
  if (own.length > 0) await runOwn(scope, own, iteration);
  return { output: text, text, pendingToolCalls: external };
}

async function runOwn(scope: AgentScope, calls: readonly NamedCall[], iteration: Frame): Promise<AgentResult | undefined> {
  const { record } = scope;
  if (!calls.every(({ name }) => scope.agent.exitTool && name === exitTool)) countToolIteration(scope);
  const directly = returnDirectlyPosition(scope, calls);
  const results = await toolStep(scope, calls, directly, iteration);
  record.messages = [...record.messages, ...results.map(({ message }) => message)];
  const answer = scope.agent.has.afterToolCalls ? await runStateHooks('afterToolCalls', scope, iteration) : undefined;
  if (answer !== undefined) return resultOfHook(scope, answer, iteration);
  if (directly === undefined || results[directly]?.error !== undefined) return undefined;
  const direct = results[directly]?.message;
  scope.life.answer = direct;
  return resultOf(direct);
}

/** The last such call of a message counts. */
function returnDirectlyPosition(scope: AgentScope, calls: readonly NamedCall[]): number | undefined {
  const { agent, record } = scope;
  for (let position = calls.length - 1; position >= 0; position--) {
    const name = calls[position]?.name ?? '';
    if (record.returnDirectly.includes(name) || (agent.exitTool && name === exitTool)) return position;
  }
  return undefined;
}

function resultOfHook(scope: AgentScope, { message, isNew, middleware }: HookAnswer, frame: Frame): AgentResult {
  if (isNew) appendShown(scope, [message], middleware, frame);
  if (message.role === 'tool') scope.life.answer = message;
  return message.role === 'tool' ? resultOf(message) : { output: textOf(message), text: textOf(message) };
}
