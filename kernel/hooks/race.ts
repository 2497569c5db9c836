import type { MaybePromise } from '../../contract/maybe-promise';
import { isRecord } from '../../contract/check';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import { notJson } from '../../contract/messages/messages';
import type { Frame } from '../effects/frames';
import { UserCode } from '../effects/user-code';
import type { HookContext } from '../define/middleware';
import { untilOf } from '../run/interrupts/asleep';
import type { Ports } from '../run/ports';

type RacingBranch = (ctx: HookContext) => MaybePromise<unknown>;

export interface Won {
  readonly first: string;
  readonly value: unknown;
}

/**
 * The winner is the recorded effect, and code of other branches is refused. After an uncaught failure of a branch, a retry enters all
 * branches again.
 */
export function race(
  frame: Frame,
  branches: Readonly<Record<string, RacingBranch>>,
  contextIn: (frame: Frame) => HookContext,
  limitIn?: (inside: Frame) => number,
): Promise<Won> {
  return frame.effect('race', (n) => {
    checkBranches(branches);
    const inside = frame.child(`race${n}`);
    const limit = limitIn?.(inside);
    const code = new UserCode();
    const decided = new Promise<Won>((resolve, reject) => {
      let isDecided = false;
      const decide = (name: string): boolean => {
        // A resumed run enters all branches again, so no branch of a cancelled run is first.
        if (isDecided || code.isHalted) return false;
        isDecided = true;
        inside.leave(
          new HoldfastError('next-left-running', `The branch "${name}" of the race at ${inside.key} was first; this one is over.`),
        );
        return true;
      };
      const end = (name: string, value: unknown): void => {
        if (!decide(name)) return;
        const problem = value === undefined ? undefined : notJson(value);
        if (problem !== undefined)
          return fail(new HoldfastError('value-not-json', `The branch "${name}" of ctx.race ended with what is not JSON: ${problem}.`));
        inside.forget();
        resolve({ first: name, value });
      };
      const fail = (error: unknown): void => {
        inside.forgetFailed();
        reject(error);
      };
      for (const [name, branch] of Object.entries(branches)) {
        const inner = inside.child(name, { label: `the branch "${name}" of a race`, code, limit });
        const act = async (): Promise<unknown> => branch(contextIn(inner));
        inner.beginBranch(act).then(
          (value) => end(name, value),
          (error: unknown) => decide(name) && fail(error),
        );
      }
    });
    return frame.code.endOfRace(code, decided);
  });
}

/** The end of the branch `late`, which sleeps. Questions of the race show it as deadline. */
export function limitOfLate(frame: Frame, ports: Ports, duration: string): (inside: Frame) => number {
  return (inside) => {
    const until = untilOf(inside.child('late'), 0, ports, () => millisecondsOf(duration, 'hook-failed'));
    return Math.min(until, frame.limit ?? until);
  };
}

function checkBranches(branches: unknown): void {
  const entries = isRecord(branches) ? Object.entries(branches) : [];
  if (entries.length > 0 && entries.every(([, branch]) => typeof branch === 'function')) return;
  throw new HoldfastError('hook-failed', 'ctx.race takes an object of at least one function: { answer: (ctx) => …, late: (ctx) => … }.');
}
