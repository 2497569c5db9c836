import type { Hono } from 'hono';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { policySourceOf } from '../../contract/policies';
import type { AppParts } from '../parts';
import { current } from './current';
import { Routes, ok } from './routes';
import { ApplyPolicyBody } from './schemas';

export function policyRoutes(parts: AppParts): Hono {
  const policies = (): Readonly<Record<string, object>> => current(parts.policies) ?? {};
  const apply = {
    may: 'policies:apply',
    summary: 'Asks again where a policy asks more now.',
    body: ApplyPolicyBody,
    answers: ok('PolicyPage', 'What became of each question.'),
  } as const;
  return new Routes('Policies')
    .add(
      'GET /',
      { may: 'runs:read', summary: 'Lists the policies of the configuration.', answers: ok('Policies', 'All policies.') },
      () => {
        const sources = Object.values(policies()).flatMap((policy) => policySourceOf(policy) ?? []);
        return { policies: sources.map(({ name, version, tools }) => ({ name, version, tools })) };
      },
    )
    .add('POST /:name/apply', apply, ({ name, body: { to: _, ...options }, client }) => {
      const known = policies();
      const policy = Object.hasOwn(known, name) ? known[name] : undefined;
      if (policy === undefined)
        throw new HoldfastError(
          'policy-unknown',
          `The configuration has no policy "${name}". It has: ${Object.keys(known).join(', ') || 'none'}.`,
        );
      return client.applyPolicy(policy, defined(options));
    }).app;
}
