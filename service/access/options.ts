import { z } from 'zod';
import type { Action } from '../../contract/access';
import { allActions, builtInRoles } from '../../contract/access';
import { duration } from '../../contract/check';
import { withoutCredentials } from '../../contract/credentials';
import { publicUrlProblem } from '../../host/check-settings';
import { shown } from '../../contract/shown';
import { formed } from '../formed';
import type { AccessOptions } from './parts';

/** A symmetric algorithm would let holders of a public key make tokens. */
const algorithms = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA', 'Ed25519'] as const;

const filled = z.string().min(1);
const func = z.custom<(given: never) => never>((value) => typeof value === 'function', 'is not a function');
const claim = z.union([filled, func], 'is not the name of a claim and not a function');

function address(mayHaveQuery = false): z.ZodType<string> {
  return z.string().superRefine((text, context) => {
    const problem = publicUrlProblem(mayHaveQuery ? text.replace(/\?.*$/, '') : text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `is ${shown(withoutCredentials(text))}. ${problem}` });
  });
}

const issuer = z
  .strictObject({
    issuer: address(),
    audience: filled.optional(),
    algorithms: z
      .array(z.enum(algorithms, `is not one of ${algorithms.join(', ')}`))
      .min(1)
      .optional(),
    requiredClaims: z.array(filled).optional(),
    jwksUri: address(true).optional(),
    claims: z.strictObject({ tenant: claim.optional(), user: claim.optional(), roles: claim.optional() }).optional(),
    login: z.strictObject({ clientId: filled, clientSecret: filled.optional(), scope: filled.optional() }).optional(),
  })
  .refine(({ audience, login }) => audience !== undefined || login !== undefined, 'needs `audience` for tokens, or `login`');

function problemOfRole(name: string): string | undefined {
  if (!/^\S+$/.test(name)) return 'is not the name of a role: use characters without spaces';
  return Object.hasOwn(builtInRoles, name) ? 'is a role that Holdfast has. Choose another name' : undefined;
}

const action = z.enum(allActions as [Action, ...Action[]], `is not an action. The actions are ${allActions.join(', ')}`);

const roles = z.record(z.string(), z.array(action)).superRefine((table, context) => {
  for (const name of Object.keys(table)) {
    const message = problemOfRole(name);
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
  }
});

export const AccessOptionsSchema = z
  .strictObject({
    keys: z.boolean().optional(),
    issuers: z
      .array(issuer)
      .refine((all) => new Set(all.map((one) => one.issuer)).size === all.length, 'have one issuer twice')
      .optional(),
    roles: roles.optional(),
    identify: func.optional(),
    perMinute: z.int('is not a whole number of at least 1').min(1, 'is not a whole number of at least 1').optional(),
    links: z
      .strictObject({
        expires: formed<string>(duration, 'access.links.expires').optional(),
        login: z.union([z.literal(true), z.array(filled).min(1)], 'is neither true nor a list of names of policies').optional(),
      })
      .optional(),
  })
  .refine(
    ({ keys, issuers = [], identify }) => keys !== false || issuers.length > 0 || identify !== undefined,
    'lets nobody in: keys are off, and there is neither an issuer nor `identify`',
  )
  .refine(
    ({ keys, issuers = [], links }) => links?.login === undefined || keys !== false || issuers.some(({ login }) => login !== undefined),
    {
      path: ['links', 'login'],
      message: 'needs keys, or an issuer with `login`',
    },
  ) as unknown as z.ZodType<AccessOptions>;

export function waysIn({ keys, issuers = [], identify }: AccessOptions): string {
  return [
    ...(keys === false ? [] : ['API keys']),
    ...issuers.filter(({ audience }) => audience !== undefined).map(({ issuer }) => `tokens of ${issuer}`),
    ...issuers.filter(({ login }) => login !== undefined).map(({ issuer }) => `the login at ${issuer}`),
    ...(identify === undefined ? [] : ['`identify`']),
  ].join(', ');
}
