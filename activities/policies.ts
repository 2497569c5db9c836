import { HoldfastError, codeOf, messageOf } from '../contract/errors';
import type { PolicyPlan, PolicyRequest, PolicySource } from '../contract/policies';
import { policySourceOf, problemOfPolicies } from '../contract/policies';

export type Policies = ReadonlyMap<string, PolicySource>;

export function policiesOf(given: Readonly<Record<string, unknown>> = {}): Policies {
  const problem = problemOfPolicies(given);
  if (problem !== undefined) throw new HoldfastError('config-invalid', `${problem}.`);
  return new Map(Object.entries(given).map(([name, value]) => [name, policySourceOf(value) as PolicySource]));
}

export function planOf(policies: Policies = new Map(), { policy, call, run }: PolicyRequest): PolicyPlan {
  const source = policies.get(policy);
  if (source === undefined)
    throw new HoldfastError(
      'policy-unknown',
      `This worker has no policy "${policy}". It has: ${[...policies.keys()].join(', ') || 'none'}.`,
    );
  try {
    return source.plan(call, run);
  } catch (error) {
    throw new HoldfastError(codeOf(error) ?? 'hook-failed', `The policy "${policy}": ${messageOf(error)}`, { cause: error });
  }
}
