import { Hono } from 'hono';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { policySourceOf } from '../../contract/policies';
import type { ServiceParts } from './app';
import { parseBody, parseQuery } from './parse-request';
import { ApplyPolicyBody, NoQuery } from './schemas';

/** The policies of the configuration, and applying what they say now to runs that wait. */
export function policyRoutes(parts: ServiceParts): Hono {
  const policies = (): Readonly<Record<string, object>> => (typeof parts.policies === 'function' ? parts.policies() : parts.policies) ?? {};
  const routes = new Hono();

  routes.get('/', (context) => {
    parseQuery(context, NoQuery);
    const sources = Object.values(policies()).flatMap((policy) => policySourceOf(policy) ?? []);
    return context.json({ policies: sources.map(({ name, version, tools }) => ({ name, version, tools })) });
  });

  routes.post('/:name/apply', async (context) => {
    const { to: _, ...options } = await parseBody(context, ApplyPolicyBody);
    const name = context.req.param('name');
    const known = policies();
    const policy = Object.hasOwn(known, name) ? known[name] : undefined;
    if (policy === undefined)
      throw new HoldfastError(
        'policy-unknown',
        `The configuration has no policy "${name}". It has: ${Object.keys(known).join(', ') || 'none'}.`,
      );
    return context.json(await parts.client.applyPolicy(policy, defined(options)));
  });
  return routes;
}
