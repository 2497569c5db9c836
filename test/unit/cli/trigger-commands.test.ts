import { listDeliveries, listTriggers, replayDelivery } from '../../../cli/commands/trigger-commands';
import type { FoundService } from '../../../cli/found-service';
import { ServiceClient } from '../../../client/http/service-client';
import { recordedTerminal } from '../../support/recorded-terminal';
import { deliver, secret, startedRuns, triggerApp } from '../../support/trigger-bed';

function bed() {
  const project = { agent: 'nobody' };
  const app = triggerApp(startedRuns(), {
    orders: { from: 'standard', secrets: secret, start: ({ id }) => ({ agent: project.agent, input: id }) },
    pushes: { from: { signature: 'X-S', id: 'X-Id' }, secrets: 'secret', start: () => undefined },
  });
  const service = new ServiceClient('http://desk', { fetch: async (url, init) => app.request(String(url), init) }) as FoundService;
  const terminal = recordedTerminal({ live: false });
  return { app, project, service, terminal };
}

it('`triggers list` has each trigger with its sender and URL', async () => {
  const { service, terminal } = bed();
  expect(await listTriggers(service, terminal, {})).toBe(0);
  expect(terminal.written()).toBe(
    [
      'TRIGGER  FROM       URL',
      'orders   standard   http://desk/v1/triggers/orders',
      'pushes   signature  http://desk/v1/triggers/pushes',
      '',
    ].join('\n'),
  );
});

it('`triggers deliveries` lists kept deliveries, and `triggers replay` ends with 0 when a run has started', async () => {
  const { app, project, service, terminal } = bed();
  expect(await listDeliveries(service, terminal, 'orders', {})).toBe(0);
  await deliver(app, 'orders', {}, { id: 'a/b' });
  expect(await listDeliveries(service, terminal, 'orders', {})).toBe(0);
  expect(await replayDelivery(service, terminal, 'orders', 'a/b')).toBe(1);
  project.agent = 'support';
  expect(await replayDelivery(service, terminal, 'orders', 'a/b')).toBe(0);
  const [none, head, row, still, started] = terminal.written().split('\n');
  expect([none, head]).toEqual(['No delivery is kept.', expect.stringMatching(/^DELIVERY +AT +PROBLEM$/)]);
  expect(row).toMatch(/^a\/b .* agent-unknown: There is no agent "nobody"/);
  expect(still).toBe('The delivery is still kept. Its problem: npx holdfast triggers deliveries orders');
  expect(started).toMatch(/^The delivery started the run orders:[0-9a-f]{64}\.$/);
});

it('`--json` prints the answers of the service', async () => {
  const { app, service, terminal } = bed();
  await deliver(app, 'orders', {});
  await listTriggers(service, terminal, { json: true });
  await listDeliveries(service, terminal, 'orders', { json: true });
  expect(terminal.written()).toContain('"triggers": [');
  expect(terminal.written()).toContain('"id": "msg_1"');
});
