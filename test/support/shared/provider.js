const { randomBytes } = require('node:crypto');

/** Warnings about the version of Node and about the store in memory. */
function quietly(work) {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}

const { Provider } = quietly(() => require('oidc-provider'));

/** Carol belongs to no tenant. */
const people = {
  alice: { tenant: 'acme', roles: ['approver', 'finance'] },
  bob: { tenant: 'globex', roles: ['reader'] },
  dora: { tenant: 'acme', roles: ['approver', 'finance'] },
  carol: { roles: ['reader'] },
};

/** Node runs this file, not Jest: an issuer takes only options of its own realm, and is an ES module. */
module.exports = {
  people: Object.keys(people),
  providerAt(url, { clientId, clientSecret, callbacks, key }) {
    const options = {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [...callbacks],
          response_types: ['code'],
          grant_types: ['authorization_code'],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      cookies: { keys: [randomBytes(32).toString('hex')] },
      jwks: { keys: [{ ...key }] },
      claims: { openid: ['sub', 'tenant', 'roles'], profile: [] },
      conformIdTokenClaims: false,
      pkce: { required: () => false },
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_, resource) => ({
            scope: '',
            audience: resource,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
      extraTokenClaims: (_, { accountId }) => people[accountId],
      /** Everybody has consented. */
      async loadExistingGrant({ oidc: { provider, session, client } }) {
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid profile');
        await grant.save();
        return grant;
      },
    };
    return quietly(() => new Provider(url, options));
  },
};
