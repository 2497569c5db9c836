import type { CallLimits } from './call-counts';
import { refusing } from '../contract/check';

interface Limited extends CallLimits {
  readonly exceeded?: string;
  readonly message?: string;
}

/** Refuses a limit of calls that would limit nothing, or has a part that would never count. */
export function checkCallLimits(owner: string, { perRun, perAgent, exceeded, message }: Limited): void {
  const refuse = refusing(owner);
  if (perRun === undefined && perAgent === undefined) refuse('give it perRun or perAgent; without both it limits nothing.');
  if (perRun !== undefined && perAgent !== undefined && perAgent > perRun)
    refuse(`perAgent is ${perAgent}, and all agents of a run together have ${perRun} (perRun): no agent would come to its limit.`);
  if (message !== undefined && exceeded === 'fail')
    refuse('message is for an agent that goes on or ends with it, and with exceeded: "fail" the run fails; leave one of them out.');
}
