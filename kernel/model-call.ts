import { HoldfastError } from '../contract/plain/errors';
import { addUsage } from '../contract/plain/fold';
import { limits, utf8Length } from '../contract/plain/limits';
import type { FinishReason, ModelSettings, StoredMessage, Usage } from '../contract/plain/messages';
import { isMessage } from '../contract/plain/messages';
import type { StreamMode } from '../contract/plain/wire';
import { errorOf } from './frames';
import type { AgentScope } from './scope';

export interface ModelCallPlan {
  readonly address: string;
  readonly path: readonly string[];
  readonly instructions: string;
  readonly messages: readonly StoredMessage[];
  readonly tools: readonly string[];
  readonly model: string;
  readonly settings: ModelSettings | undefined;
  /** Absent: whole. */
  readonly stream?: StreamMode;
  readonly output?: string | undefined;
}

export interface StoredResponse {
  readonly message: StoredMessage;
  readonly usage?: Usage;
  readonly finish?: FinishReason;
  readonly model: string;
}

/** One model activity: checks that the answer is the one asked for, and counts its tokens. */
export async function callModelOnce(scope: AgentScope, plan: ModelCallPlan): Promise<StoredResponse> {
  const { run, agent, record } = scope;
  const size = utf8Length(plan.instructions);
  if (size > limits.payload / 2)
    throw new HoldfastError('payload-too-large', `The instructions of agent "${agent.name}" have ${size} bytes.`);
  const runLocal = run.runLocal.toSend(scope.path, plan.address, undefined, false);
  const result = await run.ports.callModel({
    ...plan,
    ...(runLocal === undefined ? {} : { runLocal }),
    turn: record.turn,
    facts: run.manifest.defaults.model,
    halves: agent.halves,
    stream: plan.stream ?? 'whole',
    output: plan.output,
  });
  if (result.address !== plan.address)
    throw new HoldfastError('internal', `The model call ${plan.address} got the answer of ${result.address}.`);
  if (result.usage !== undefined) run.state.usage = addUsage(run.state.usage, result.usage);
  run.runLocal.take(scope.path, result);
  if (result.failed !== undefined) throw errorOf(result.failed);
  if (!isMessage(result.message))
    throw new HoldfastError('model-response-invalid', `The model call ${plan.address} came back without a message.`);
  return {
    message: result.message,
    model: result.model ?? plan.model,
    ...(result.usage === undefined ? {} : { usage: result.usage }),
    ...(result.finish === undefined ? {} : { finish: result.finish }),
  };
}
