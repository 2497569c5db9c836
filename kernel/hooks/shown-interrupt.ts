import { defined } from '../../contract/defined';
import { agentOfPath } from '../../contract/record/agent-paths';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt, InterruptBase } from '../../contract/interrupts';
import { interruptId } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { Json, ToolCall } from '../../contract/messages/messages';
import { canonicalJson, notJson } from '../../contract/messages/messages';
import type { Frame } from '../effects/frames';
import type { InterruptOptions } from '../define/middleware';
import type { AgentScope } from '../run/scope';
import type { PendingInterrupt } from '../run/state';

type Approval = Omit<Extract<Interrupt, { kind: 'approval' }>, keyof InterruptBase>;

export function approvalOf(call: ToolCall, problem: string | undefined, inputSchema: Json | undefined): Approval {
  const { id: callId, name: tool, input, options } = call;
  return {
    kind: 'approval',
    tool,
    callId,
    input,
    inputHash: call.inputHash ?? canonicalJson(input),
    ...defined({ inputSchema, options, problem }),
  };
}

/** What edited arguments have to fit. Runs that began before there were such schemas ask as they did. */
export function schemaForEdits({ run: { manifest }, agent }: AgentScope, tool: string): Json | undefined {
  if (manifest.schemas === undefined) return undefined;
  const schema = agent.ownTools.get(tool)?.spec.inputSchema ?? manifest.schemas[tool];
  return schema === undefined || jsonSize(schema) > limits.interruptSchema ? undefined : schema;
}

export function interruptBase(
  scope: AgentScope,
  frame: Frame,
  n: number,
  options: Omit<InterruptOptions, 'kind' | 'answerSchema'>,
): { id: string; address: readonly string[]; agent: string; deadline?: number; by?: readonly string[] } {
  const { ports } = scope.run;
  return {
    id: interruptId(frame.address, n),
    address: frame.address,
    agent: agentOfPath(scope.path),
    ...(options.deadline === undefined ? {} : { deadline: ports.now() + millisecondsOf(options.deadline, 'hook-failed') }),
    ...defined({ by: options.by }),
  };
}

export function pending(shown: Interrupt, options: Pick<InterruptOptions, 'onDeadline'>): PendingInterrupt {
  const problem = notJson(shown) ?? (options.onDeadline === undefined ? undefined : notJson(options.onDeadline));
  if (problem !== undefined) throw new HoldfastError('value-not-json', `The interrupt is not JSON: ${problem}.`);
  if (shown.by !== undefined && !isListOfTexts(shown.by))
    throw new HoldfastError(
      'hook-failed',
      'The interrupt has a "by" that is no list of names, or has none or an empty one: nobody could answer.',
    );
  const size = jsonSize(shown);
  if (size > limits.interrupt)
    throw new HoldfastError('payload-too-large', `The interrupt "${shown.id}" shows ${size} bytes; at most ${limits.interrupt} fit.`);
  return options.onDeadline === undefined ? { shown } : { shown, onDeadline: options.onDeadline };
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item.trim() !== '');
}
