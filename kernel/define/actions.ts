import type { Json } from '../../contract/messages/messages';
import { isName } from '../../contract/names';

/** What an agent wants to happen when it has ended. It stands on an event of the agent; the last one counts. */
export type FlowAction = { readonly exit: true } | { readonly transferTo: string } | { readonly breakLoop: true };

/** Nothing comes after this agent: a sequence or a loop that it stands in ends, and nothing is transferred back. */
export function exitAction(): FlowAction {
  return { exit: true };
}

/** Another agent goes on: a sub-agent of this one, or its parent. */
export function transferToAgentAction(agent: string): FlowAction {
  return { transferTo: agent };
}

/** The loop that the agent stands in is not run again. */
export function breakLoopAction(): FlowAction {
  return { breakLoop: true };
}

/** What an action on an event means to the flow, or nothing: it may as well be one of the user's own. */
export function flowActionOf(action: Json | undefined): FlowAction | undefined {
  if (typeof action !== 'object' || action === null || Array.isArray(action)) return undefined;
  const { exit, transferTo, breakLoop } = action as Readonly<Record<string, Json | undefined>>;
  if (exit === true) return { exit };
  if (typeof transferTo === 'string') return { transferTo };
  return breakLoop === true ? { breakLoop } : undefined;
}

/** What is wrong with an action that has a field of ours. One of the user's own may be anything. */
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
