import { ProjectConfigSchema } from '../../../service/project/project-config';
import { memoryStore } from '../../support/memory-store';

const issuer = { issuer: 'https://login.example.com/', audience: 'holdfast' };
const read = (access: unknown) => ProjectConfigSchema.safeParse({ agents: './agents.ts', access });

describe('`access` of the configuration', () => {
  it.each([
    {},
    {
      keys: true,
      issuers: [
        { ...issuer, algorithms: ['ES256'], requiredClaims: ['scope'], jwksUri: 'https://login.example.com/keys?app=1' },
        { issuer: 'http://127.0.0.1:8090', login: { clientId: 'desk', scope: 'openid' }, claims: { tenant: 'org', roles: () => [] } },
      ],
      roles: { cashier: ['runs:read', 'runs:answer'], finance: [] },
      identify: () => undefined,
      perMinute: 60,
      links: { expires: '2d', login: ['refunds'] },
    },
  ])('takes %j', (access) => expect(read(access).error).toBeUndefined());

  it.each<[string, unknown]>([
    ['access: lets nobody in: keys are off, and there is neither an issuer nor `identify`', { keys: false }],
    ['access: Unrecognized key: "tokens"', { tokens: true }],
    ['access.issuers.0.issuer: is "login.example.com". It must be a URL', { issuers: [{ ...issuer, issuer: 'login.example.com' }] }],
    [
      'access.issuers.0.issuer: is "http://login.example.com". It must begin with https:',
      { issuers: [{ ...issuer, issuer: 'http://login.example.com' }] },
    ],
    ['access.issuers.0.jwksUri: is "keys". It must be a URL', { issuers: [{ ...issuer, jwksUri: 'keys' }] }],
    ['access.issuers.0.algorithms.0: is not one of ES256, ', { issuers: [{ ...issuer, algorithms: ['HS256'] }] }],
    ['access.issuers.0.algorithms.0: is not one of ES256, ', { issuers: [{ ...issuer, algorithms: ['none'] }] }],
    ['access.issuers.0: needs `audience` for tokens, or `login`', { issuers: [{ issuer: issuer.issuer }] }],
    ['access.issuers.0.claims.user: is not the name of a claim and not a function', { issuers: [{ ...issuer, claims: { user: 7 } }] }],
    ['access.issuers: have one issuer twice', { issuers: [issuer, issuer] }],
    ['access.roles.admin: is a role that Holdfast has. Choose another name', { roles: { admin: ['runs:read'] } }],
    ['access.roles.a b: is not the name of a role', { roles: { 'a b': ['runs:read'] } }],
    ['access.roles.cashier.0: is not an action. The actions are runs:read, ', { roles: { cashier: ['runs:wipe'] } }],
    ['access.identify: is not a function', { identify: 'me' }],
    ['access.perMinute: is not a whole number of at least 1', { perMinute: 0 }],
    ['access.links.expires: is refused: access.links.expires "soon" is no duration', { links: { expires: 'soon' } }],
    ['access.links.login: is neither true nor a list of names of policies', { links: { login: 'refunds' } }],
    ['access.links.login: needs keys, or an issuer with `login`', { links: { login: true }, keys: false, issuers: [issuer] }],
  ])('refuses with "%s"', (problem, access) => {
    const issues = read(access).error?.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
    expect(issues).toEqual([expect.stringContaining(problem)]);
  });
});

it('a store has its six functions', () => {
  const read = (store: unknown) => ProjectConfigSchema.safeParse({ agents: './agents.ts', store });
  expect(read(memoryStore()).success).toBe(true);
  expect(read(new Map()).error?.issues[0]?.message).toBe('is not a store with get, set, delete, list, append and lines');
});
