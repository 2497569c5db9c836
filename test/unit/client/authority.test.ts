import { Authority } from '../../../client/connection/authority';
import type { Act } from '../../../client/connection/authority';

it.each<[about: string, ask: (authority: Authority) => void | Promise<void>, run: string | undefined]>([
  ['no single run', (authority) => authority.permit('runs:start'), undefined],
  ['a run', (authority) => authority.check('runs:start', 'acme/r'), 'r'],
])('an act about %s that no role allows is refused, and the audit log is told', async (_, ask, run) => {
  const acts: Act[] = [];
  const caller = { tenant: 'acme', user: 'ann', roles: ['reader'], proof: 'identify', may: new Set(['runs:read'] as const) };
  const authority = new Authority(() => Promise.reject(new Error('no run is described')), {
    ...caller,
    onAct: (act) => acts.push(act),
  });
  await expect(async () => ask(authority)).rejects.toMatchObject({ code: 'action-forbidden' });
  expect(acts).toEqual([{ action: 'runs:start', code: 'action-forbidden', ...(run === undefined ? {} : { run }) }]);
});
