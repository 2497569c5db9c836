import { defined } from '../../contract/defined';
import { agentOfPath } from '../../contract/record/agent-paths';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import type { AskingPolicy } from '../../contract/decisions';
import type { Interrupt, InterruptBase } from '../../contract/interrupts';
import { interruptId } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { Json, ToolCall } from '../../contract/messages/messages';
import { canonicalJson, notJson } from '../../contract/messages/messages';
import type { InterruptStep } from '../../contract/who-may-answer';
import type { Frame } from '../effects/frames';
import type { InterruptOptions } from '../define/middleware';
import type { AgentScope } from '../run/scope';
import type { PendingInterrupt } from '../run/state';

type Approval = Omit<Extract<Interrupt, { kind: 'approval' }>, keyof InterruptBase>;

export function approvalOf(
  call: ToolCall,
  { problem, policy }: { readonly problem?: string; readonly policy?: AskingPolicy },
  inputSchema: Json | undefined,
): Approval {
  const { id: callId, name: tool, input, options } = call;
  return {
    kind: 'approval',
    tool,
    callId,
    input,
    inputHash: call.inputHash ?? canonicalJson(input),
    ...defined({ inputSchema, options, problem, policy }),
  };
}

export function schemaForEdits({ run: { manifest }, agent }: AgentScope, tool: string): Json | undefined {
  const schema = agent.ownTools.get(tool)?.spec.inputSchema ?? manifest.schemas?.[tool];
  return schema === undefined || jsonSize(schema) > limits.interruptSchema ? undefined : schema;
}

export function interruptBase(
  scope: AgentScope,
  frame: Frame,
  n: number,
  options: Omit<InterruptOptions, 'kind' | 'answerSchema'>,
): InterruptBase {
  const { ports } = scope.run;
  return {
    id: interruptId(frame.address, n),
    address: frame.address,
    agent: agentOfPath(scope.path),
    ...(options.deadline === undefined ? {} : { deadline: ports.now() + millisecondsOf(options.deadline, 'hook-failed') }),
    ...defined({ by: options.by, roles: options.roles, notBy: options.notBy, steps: stepsOf(options, () => ports.now()) }),
  };
}

function stepsOf({ remind = [], escalate }: InterruptOptions, now: () => number): InterruptBase['steps'] {
  if (remind.length === 0 && escalate === undefined) return undefined;
  const at = (after: string): number => now() + millisecondsOf(after, 'hook-failed');
  const steps: readonly InterruptStep[] = [
    ...remind.map((after) => ({ type: 'remind', at: at(after) }) as const),
    ...(escalate === undefined
      ? []
      : [{ type: 'escalate', at: at(escalate.after), ...defined({ by: escalate.by, roles: escalate.roles }) } as const]),
  ];
  return [...steps].sort((one, other) => one.at - other.at);
}

export function pending(shown: Interrupt, options: Pick<InterruptOptions, 'onDeadline'> & { readonly tellsWho?: true }): PendingInterrupt {
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
  return { shown, ...defined({ onDeadline: options.onDeadline, tellsWho: options.tellsWho }) };
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item.trim() !== '');
}
