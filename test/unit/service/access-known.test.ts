import type { Action } from '../../../contract/access';
import { Access } from '../../../service/access/access';
import type { AccessOptions, Identity } from '../../../service/access/parts';

const partsWith = (options: AccessOptions) =>
  ({
    options,
    keys: { isKey: () => false },
    issuers: { takesTokens: false },
    sessions: { identify: () => Promise.resolve(undefined) },
  }) as unknown as ConstructorParameters<typeof Access>[0];
const ann: Identity = { tenant: 'acme', user: 'ann', roles: ['reader'] };

it.each<[state: string, now: Identity | undefined, asked: Action, isKnown: boolean]>([
  ['has the role still', ann, 'runs:read', true],
  ['has another role for the same action', { ...ann, roles: ['approver'] }, 'runs:read', true],
  ['has lost the role', { ...ann, roles: ['finance'] }, 'runs:read', false],
  ['is another person', { ...ann, user: 'bob' }, 'runs:read', false],
  ['is of another tenant', { ...ann, tenant: 'globex' }, 'runs:read', false],
  ['is nobody', undefined, 'runs:read', false],
])('an answer that lasts goes on only for a caller who may ask for it: the caller %s', async (_, now, asked, isKnown) => {
  let identity: Identity | undefined = ann;
  const access = new Access(partsWith({ identify: () => identity }));
  const request = new Request('http://127.0.0.1/runs/r/events');
  const caller = await access.identify(request);
  identity = now;
  expect(await access.knows(request, caller, asked)).toBe(isKnown);
});
