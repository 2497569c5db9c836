import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../support/eventually';
import { a2aClient, saying, stateOf, told } from '../support/a2a-bed';
import { openHook, statesOf } from '../support/a2a-hook';
import { DevWithClients } from '../support/dev-with-clients';

const root = resolve(__dirname, '..', '..');
const dev = new DevWithClients('a2a');

describe('the client of A2A', () => {
  beforeAll(() => dev.open({ scripts: ['a2a.mjs', 'check.mjs'], linked: ['@a2a-js/sdk'] }), 300_000);
  afterAll(() => dev.close(), 60_000);

  it('does what the guide says', async () => {
    const guide = readFileSync(join(root, 'docs', 'guides', 'a2a.md'), 'utf8');
    const [, example = ''] = /```js\n([^]*?)```/.exec(guide) ?? [];
    writeFileSync(join(dev.clients, 'refund.mjs'), example.replace('http://127.0.0.1:4747', dev.url));
    const stdout = await dev.script('refund.mjs');
    expect(stdout).toMatch(/^May refund be called\? .*"amount":80.*\nDone\. /);
  });

  it('sends, streams, answers, cancels, lists, leaves, comes back and is told by a hook', async () => {
    const stdout = await dev.script('a2a.mjs');
    expect(stdout).toMatch(/^30 passed, 0 failed$/m);
  });

  it('is told all states in order where the service and the worker are killed while the receiver is away', async () => {
    const hook = await openHook();
    hook.status = 503;
    try {
      const client = await a2aClient(dev.fetch, `${dev.url}/a2a/support/`);
      const request = saying('Refund order 42, it arrived broken', { contextId: 'pushed' });
      const config = { tenant: '', id: '', taskId: '', url: hook.url, token: 'tok', authentication: undefined };
      const task = await client.sendMessage({
        ...request,
        configuration: { acceptedOutputModes: [], returnImmediately: false, taskPushNotificationConfig: config },
      });
      await dev.crash();
      await client.sendMessage(saying('yes', { contextId: 'pushed', taskId: 'id' in task ? task.id : '' }));
      await dev.end('SIGKILL');
      hook.status = 204;
      await dev.serve();
      const states = await eventually(async () => (statesOf(hook).includes('COMPLETED') ? statesOf(hook) : undefined));
      expect(states).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    } finally {
      hook.close();
    }
  });

  it('finds a task again whose service was killed while it streamed, and answers it', async () => {
    const client = await a2aClient(dev.fetch, `${dev.url}/a2a/support/`);
    let context = { contextId: '' };
    let id = '';
    // On a busy machine, the task may end before the kill.
    for (let tries = 1, isBroken = false; !isBroken; tries++) {
      context = { contextId: `killed-${tries}` };
      const stream = client.sendMessageStream(saying('Refund order 42, it arrived broken', context));
      const { value: first } = await stream.next();
      id = first?.payload?.$case === 'task' ? first.payload.value.id : '';
      await dev.end('SIGKILL');
      isBroken = await told(stream).then(
        () => false,
        () => true,
      );
      await dev.serve();
    }
    const asking = await eventually(async () => {
      const task = await client.getTask({ tenant: '', id });
      return stateOf(task) === 'INPUT_REQUIRED' ? task : undefined;
    });
    const done = await client.sendMessage(saying('yes', { ...context, taskId: asking.id }));
    expect('status' in done ? stateOf(done) : '').toBe('COMPLETED');
  });
});
