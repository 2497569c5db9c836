import type { Action, Me } from '../../../contract/access';
import { allActions, builtInRoles } from '../../../contract/access';
import type * as identityModule from '../../../console/data/identity';

// Jest cannot load Preact's signals.
jest.mock('@preact/signals', () => ({
  signal: (value: unknown) => ({
    value,
    peek() {
      return this.value;
    },
  }),
  computed: (read: () => unknown) => ({
    get value() {
      return read();
    },
    peek: read,
  }),
}));
let answer: Promise<Me>;
let asking: Promise<unknown> = Promise.resolve();
jest.mock('../../../console/data/service', () => ({ service: { me: () => answer }, isLoginNeeded: { value: false } }));
jest.mock('../../../console/data/live', () => ({
  usePoll: (_: string, ask: () => Promise<unknown>) => {
    asking = ask().catch(() => undefined);
    return {};
  },
}));
Object.assign(globalThis, { addEventListener: () => undefined });

const everything: Me = { tenant: 'default', roles: [], may: allActions };
const reader: Me = { tenant: 'acme', user: 'rita', roles: ['reader'], proof: 'key:4f7Qa2Zk', may: ['runs:read'] };

async function identityWith(me: Promise<Me>): Promise<typeof identityModule> {
  let made: typeof identityModule | undefined;
  jest.isolateModules(() => (made = jest.requireActual<typeof identityModule>('../../../console/data/identity')));
  if (made === undefined) throw new Error('No module.');
  answer = me;
  made.useMe();
  await asking;
  made.storeClaim({ name: ' ada ', roles: ['finance', '', ' finance '] });
  return made;
}

describe('who uses the console', () => {
  it('is a claim in a service without access: bodies and lists carry the name, and every action is allowed', async () => {
    const { answerer, byNow, claimed, identity, caller, may } = await identityWith(Promise.resolve(everything));
    expect(identity.value).toEqual({ name: 'ada', roles: ['finance'] });
    expect([claimed.value, answerer.value]).toEqual([
      { by: 'ada', roles: ['finance'] },
      { by: 'ada', roles: ['finance'] },
    ]);
    expect([byNow(), caller.value, allActions.every(may)]).toEqual([{ by: 'ada' }, undefined, true]);
  });

  it('is what the service has proven: lists carry the name and the roles, and bodies carry neither', async () => {
    const { answerer, byNow, claimed, identity, caller } = await identityWith(Promise.resolve(reader));
    expect(identity.value).toEqual({ name: 'rita', roles: ['reader'] });
    expect(answerer.value).toEqual({ by: 'rita', roles: ['reader'] });
    expect([claimed.value, byNow(), caller.value]).toEqual([{}, {}, reader]);
  });

  it('stays a claim if the service cannot say who asks', async () => {
    const { claimed, may } = await identityWith(Promise.reject(new Error('away')));
    expect([claimed.value.by, may('keys:manage')]).toEqual(['ada', true]);
  });

  it('is told a role that allows the action, for each action', async () => {
    const { whyMayNot } = await identityWith(Promise.resolve({ ...reader, may: [] }));
    const told = allActions.map((action) => [action, /The role (\w+) does/.exec(whyMayNot(action) ?? '')?.[1] ?? ''] as const);
    const allowed: Readonly<Record<string, readonly Action[]>> = builtInRoles;
    expect(told.filter(([action, role]) => allowed[role]?.includes(action) !== true)).toEqual([]);
  });

  it.each<[Action, string | undefined]>([
    ['runs:read', undefined],
    ['runs:answer', 'Your roles do not allow runs:answer. The role approver does.'],
    ['runs:start', 'Your roles do not allow runs:start. The role operator does.'],
    ['keys:manage', 'Your roles do not allow keys:manage. The role admin does.'],
  ])('is told which role the action %s needs', async (action, why) => {
    const { may, whyMayNot } = await identityWith(Promise.resolve(reader));
    expect([may(action), whyMayNot(action)]).toEqual([why === undefined, why]);
  });
});
