import type { Json } from '../../contract/messages/messages';
import { isName } from '../../contract/names';

/** The next step of the flow after an agent. The last action of the agent counts. */
export type FlowAction = { readonly exit: true } | { readonly transferTo: string } | { readonly breakLoop: true };

/**
 * Ends the agent and any sequence or loop around the agent, without a hand-back.
 * @example
 * export const gate = customAgent({
 *   name: 'gate',
 *   async *run({ messages }) {
 *     if (textOf(messages.at(-1)!) === '') yield { action: exitAction() };
 *   },
 * });
 */
export function exitAction(): FlowAction {
  return { exit: true };
}

/**
 * Hands over to a sub-agent or to the parent.
 * @example
 * export const desk = customAgent({
 *   name: 'desk',
 *   agents: [writer, critic],
 *   async *run({ messages }) {
 *     yield { action: transferToAgentAction(messages.length > 1 ? 'critic' : 'writer') };
 *   },
 * });
 */
export function transferToAgentAction(agent: string): FlowAction {
  return { transferTo: agent };
}

/**
 * Ends the loop around the agent.
 * @example
 * export const critic = customAgent({
 *   name: 'critic',
 *   async *run({ messages }) {
 *     if (textOf(messages.at(-1)!).length < 1000) yield { action: breakLoopAction() };
 *   },
 * });
 */
export function breakLoopAction(): FlowAction {
  return { breakLoop: true };
}

/** Undefined: an action of the user's own. */
export function flowActionOf(action: Json | undefined): FlowAction | undefined {
  if (typeof action !== 'object' || action === null || Array.isArray(action)) return undefined;
  const { exit, transferTo, breakLoop } = action as Readonly<Record<string, Json | undefined>>;
  if (exit === true) return { exit };
  if (typeof transferTo === 'string') return { transferTo };
  return breakLoop === true ? { breakLoop } : undefined;
}

/** Checks only Holdfast's fields, because users may add any other field. */
export function actionProblem(action: Json): string | undefined {
  if (typeof action !== 'object' || action === null || Array.isArray(action)) return undefined;
  const { exit, transferTo, breakLoop } = action as Readonly<Record<string, Json | undefined>>;
  const isSwitch = (value: Json | undefined): boolean => value === undefined || typeof value === 'boolean';
  if (!isSwitch(exit)) return 'exit is true';
  if (!isSwitch(breakLoop)) return 'breakLoop is true';
  if (transferTo !== undefined && !isName(transferTo)) return 'transferTo is the name of an agent';
  const several = [exit === true, transferTo !== undefined, breakLoop === true].filter((is) => is).length > 1;
  return several ? 'it has more than one of exit, transferTo and breakLoop' : undefined;
}
