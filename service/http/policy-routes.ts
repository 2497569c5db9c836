import type { Hono } from 'hono';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { policySourceOf } from '../../contract/policies';
import type { ServiceParts } from '../parts';
import { current } from './current';
import { Routes, ok } from './routes';
import { ApplyPolicyBody } from './schemas';

export function policyRoutes(parts: ServiceParts): Hono {
  const policies = (): Readonly<Record<string, object>> => current(parts.policies) ?? {};
  const apply = {
    summary: 'Asks again where a policy asks more now.',
    body: ApplyPolicyBody,
    answers: ok('PolicyPage', 'What became of each question.'),
  };
  return new Routes('Policies')
    .add('GET /', { summary: 'Lists the policies of the configuration.', answers: ok('Policies', 'All policies.') }, () => {
      const sources = Object.values(policies()).flatMap((policy) => policySourceOf(policy) ?? []);
      return { policies: sources.map(({ name, version, tools }) => ({ name, version, tools })) };
    })
    .add('POST /:name/apply', apply, ({ name, body: { to: _, ...options } }) => {
      const known = policies();
      const policy = Object.hasOwn(known, name) ? known[name] : undefined;
      if (policy === undefined)
        throw new HoldfastError(
          'policy-unknown',
          `The configuration has no policy "${name}". It has: ${Object.keys(known).join(', ') || 'none'}.`,
        );
      return parts.client.applyPolicy(policy, defined(options));
    }).app;
}
