import { connect } from '../../../client/connect';
import { readConfiguration } from '../../../host/configuration';
import { Access } from '../../../service/access/access';
import { principalOf } from '../../../service/access/claims';
import { Keys } from '../../../service/access/keys';
import type { AccessOptions } from '../../../service/access/parts';
import { memoryStore } from '../../support/memory-store';

const partsWith = (options: AccessOptions) =>
  ({
    options,
    sessions: { identify: () => Promise.resolve(undefined) },
    audit: { write: () => Promise.resolve() },
  }) as unknown as ConstructorParameters<typeof Access>[0];

describe.each(['push:acme', 'trial:acme', 'batch:acme'])(
  'the tenant %s, whose runs would have the ids of workflows that serve acme',
  (tenant) => {
    it('gets no key', async () => {
      const made = new Keys(memoryStore()).create({ name: 'eve', tenant, roles: ['admin'] });
      await expect(made).rejects.toMatchObject({ code: 'key-refused' });
    });

    it('is refused in a token', () => {
      const issuer = { issuer: 'https://issuer.example.com', claims: { tenant: 'tenant' } };
      expect(() => principalOf(issuer, { tenant, sub: 'eve' }, 'token')).toThrow(expect.objectContaining({ code: 'identity-invalid' }));
    });

    it('is refused of `connect` and in HOLDFAST_TENANT', async () => {
      const refusal = { code: 'config-invalid', message: expect.stringContaining('not with push:, trial: or batch:') as unknown };
      await expect(connect({ tenant })).rejects.toMatchObject(refusal);
      expect(() => readConfiguration({ HOLDFAST_TENANT: tenant })).toThrow(expect.objectContaining(refusal));
    });

    it('is refused from `identify`', async () => {
      const access = new Access(partsWith({ identify: () => ({ tenant, user: 'eve' }) }));
      await expect(access.identify(new Request('http://127.0.0.1/me'))).rejects.toMatchObject({ code: 'config-invalid' });
    });
  },
);
