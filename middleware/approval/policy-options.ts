import type { Form, Forms } from '../../contract/check';
import {
  checkOptions,
  bound,
  duration,
  filled,
  flag,
  func,
  isFunction,
  listOf,
  misfit,
  oneOf,
  refusing,
  required,
  shape,
  someNames,
  worded,
} from '../../contract/check';
import { insideOf } from '../../kernel/define/inside';
import type { HookContext, InputOf, Tools } from '../../kernel/define/middleware';
import type { Edits } from './changed-calls';
import { personOf } from '../../contract/people';
import type { Deciders, PolicyRun } from '../../contract/policies';

/** `tool` tells the form of `input`. */
export type PolicyCall<T extends Tools, Name extends keyof T & string = keyof T & string> = {
  readonly [One in Name]: { readonly tool: One; readonly input: InputOf<T[One]> };
}[Name];

export interface PolicyStage<Call = unknown> {
  readonly name?: string;
  /** People, roles, or a function of the call and the run. Default: any named person. */
  readonly by?: Deciders | ((call: Call, run: PolicyRun) => Deciders);
  /** Number of approving people. Default: 1. */
  readonly need?: number;
  /** Excludes people who started the run, wrote to this turn, or decided about the call before. Default: false. */
  readonly fourEyes?: boolean;
  /** Waiting times after which an event reminds people of the open decision. */
  readonly remind?: readonly string[];
  /** Further people who may decide if nobody has decided after a time. */
  readonly escalate?: { readonly after: string; readonly to: Deciders };
  /** Time until `onExpiry` decides. Default: no limit. */
  readonly expires?: string;
  /** The decision after `expires`. Default: reject. */
  readonly onExpiry?: 'approve' | 'reject';
  /** People may hand the decision over. Default: true. */
  readonly delegate?: boolean;
}

export interface PolicyOptions<T extends Tools, Name extends keyof T & string = keyof T & string> {
  /** Shown in the log with each question. */
  readonly name: string;
  readonly tools: readonly Name[];
  /** Default: all calls. Only `false` means no: a rule that throws, or returns nothing, means yes. */
  readonly when?: (call: PolicyCall<NoInfer<T>, NoInfer<Name>>, run: PolicyRun) => boolean;
  readonly stages: readonly PolicyStage<PolicyCall<NoInfer<T>, NoInfer<Name>>>[];
  /** Path of an amount in the arguments, such as "total.net". People may then approve all calls up to an amount. */
  readonly amount?: string;
  /** What the model hears of a changed call. Default: `tell`. */
  readonly edits?: Edits;
}

export type AnyStage = PolicyStage<never>;

const whom = 'an object with users or roles, each an array of at least one name';
export const peopleForm: Form = {
  wanted: whom,
  problem: (value, option) => {
    const problem = shape({ users: someNames, roles: someNames }, whom).problem(value, option);
    if (problem !== undefined) return problem;
    const { users, roles } = value as Deciders;
    return users === undefined && roles === undefined ? misfit(option, whom, value) : undefined;
  },
};
export const peopleOrFunction: Form = {
  wanted: `${whom}, or a function of the call and the run`,
  problem: (value, option) => (isFunction(value) ? undefined : peopleForm.problem(value, option)),
};

const stageForms: Forms<AnyStage> = {
  name: filled,
  by: peopleOrFunction,
  need: bound,
  fourEyes: flag,
  remind: listOf(duration, 'an array of durations, such as ["1d", "2d"]'),
  escalate: shape({ after: required(duration), to: required(peopleForm) }, 'an object with after and to'),
  expires: duration,
  onExpiry: oneOf('approve', 'reject'),
  delegate: flag,
};

export function problemOfExpiry({ onExpiry, expires }: Pick<AnyStage, 'onExpiry' | 'expires'>, at: string): string | undefined {
  if (onExpiry === undefined || expires !== undefined) return undefined;
  return `${at}.onExpiry says what happens when the time is over, and there is no expires; write for example expires: "3d", or leave onExpiry out`;
}

function problemOfStages(stages: unknown): string | undefined {
  const problem = listOf(shape(stageForms), 'an array of stages, such as [{ by: { users: ["ada"] } }]').problem(stages, 'stages');
  if (problem !== undefined) return problem;
  const all = stages as readonly AnyStage[];
  if (all.length === 0) return 'stages is empty, so nobody would be asked; name at least one stage';
  for (const [position, stage] of all.entries()) {
    const at = `stages[${position}]`;
    const problemOfTimes = problemOfExpiry(stage, at);
    if (problemOfTimes !== undefined) return problemOfTimes;
    const { need = 1 } = stage;
    const known = knownPeople(stage);
    if (known !== undefined && known.size < need)
      return `${at}.need is ${need}, and only ${[...known.values()].join(', ')} may decide: that many can never be reached; name more people, or need fewer`;
  }
  return problemOfFourEyes(all);
}

function problemOfFourEyes(stages: readonly AnyStage[]): string | undefined {
  const strict = stages.filter(({ fourEyes }) => fourEyes === true);
  const known = strict.map(knownPeople);
  if (strict.length < 2 || known.some((names) => names === undefined)) return undefined;
  const all = new Map(known.flatMap((names) => [...(names ?? [])]));
  const needed = strict.reduce((sum, { need = 1 }) => sum + need, 0);
  return all.size < needed
    ? `the stages with fourEyes need ${needed} different people, and only ${[...all.values()].join(', ')} may decide: that many can never be reached`
    : undefined;
}

function knownPeople({ by, escalate }: AnyStage): ReadonlyMap<string, string> | undefined {
  if (by === undefined || typeof by === 'function' || by.roles !== undefined || escalate?.to.roles !== undefined) return undefined;
  return new Map([...(by.users ?? []), ...(escalate?.to.users ?? [])].map((name) => [personOf(name), name]));
}

export function checkedDeciders(value: unknown, owner: string, at: string): Deciders {
  const problem = peopleForm.problem(value, at);
  return problem === undefined ? (value as Deciders) : refusing(owner, 'hook-failed')(`${problem}.`);
}

export function checkedPolicy<T extends Tools, Name extends keyof T & string>(given: unknown): PolicyOptions<T, Name> {
  return checkOptions<PolicyOptions<T, Name>>('policy', given, {
    name: required(filled),
    tools: required(worded(someNames, 'an array of at least one name of a tool, each once')),
    when: worded(func, 'a function of the call and the run'),
    stages: required({ wanted: 'an array of stages', problem: problemOfStages }),
    amount: filled,
    edits: oneOf('tell', 'rewrite', 'hide'),
  });
}

export function runOf(ctx: HookContext): PolicyRun {
  return { id: ctx.runId, agent: ctx.agent, ...insideOf(ctx).startedWith };
}
