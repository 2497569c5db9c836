import type { Client } from '@a2a-js/sdk/client';
import type { SendMessageRequest, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { pushQueuesOf } from '../../contract/task-push';
import { pushActivities } from '../../service/a2a/push/activities';
import type { RunningService } from '../../service/http/start-service';
import type { ActivityQueues } from '../../worker/activity-queue';
import { serveActivities } from '../../worker/activity-queue';
import { a2aClient, saying } from '../support/a2a-bed';
import type { Hook } from '../support/a2a-hook';
import { openHook, statesOf } from '../support/a2a-hook';
import type { ServiceBed } from '../product/service-bed';
import { startServiceBed } from '../product/service-bed';
import { eventually } from '../support/eventually';

const refund = 'Refund order 42, it arrived broken';

let bed: ServiceBed;
let client: Client;
let service: RunningService;
let queues: ActivityQueues;
let serve: () => Promise<ActivityQueues>;
const hooks: Hook[] = [];
beforeAll(async () => {
  bed = await startServiceBed();
  service = await bed.another({ pushTo: ['loopback'] });
  const { watch, send } = pushQueuesOf(bed.taskQueue);
  serve = () => {
    const { watchTask, sendNotice } = pushActivities({ client: bed.client, secret: undefined, to: () => ['loopback'] });
    return serveActivities({
      server: bed.settings,
      queues: [
        { taskQueue: watch, activities: { watchTask }, most: 50 },
        { taskQueue: send, activities: { sendNotice }, most: 5 },
      ],
      graceMs: 100,
    });
  };
  queues = await serve();
  client = await a2aClient(fetch, `${service.url}/a2a/support/`);
});
afterAll(async () => {
  await queues.shutdown();
  await service.close();
  await bed.close();
  for (const { close } of hooks) close();
});

const opened = async (): Promise<Hook> => {
  const one = await openHook();
  hooks.push(one);
  return one;
};

let contexts = 0;
const configOf = (url: string, more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig => ({
  tenant: '',
  id: '',
  taskId: '',
  url,
  token: 'tok',
  authentication: undefined,
  ...more,
});

function telling(text: string, config: TaskPushNotificationConfig, more: Partial<SendMessageRequest['message']> = {}): SendMessageRequest {
  const request = saying(text, { contextId: `push-${++contexts}`, ...more });
  return { ...request, configuration: { acceptedOutputModes: [], returnImmediately: false, taskPushNotificationConfig: config } };
}

const hears = (one: Hook, states: readonly string[]) =>
  eventually(async () => (statesOf(one).length >= states.length ? statesOf(one) : undefined));
const answer = (task: Task) => client.sendMessage(saying('yes', { contextId: task.contextId, taskId: task.id })) as Promise<Task>;
const codeOf = (error: { data?: { metadata?: { code?: string } }[] }) => error.data?.[0]?.metadata?.code;
const listed = async (task: Task) =>
  (await client.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' })).configs;

describe('push notifications of A2A', () => {
  it('tell the same message sent again nothing twice, also when all is told', async () => {
    const one = await opened();
    const request = telling('Where is my order 43?', configOf(one.url));
    await Promise.all([client.sendMessage(request), client.sendMessage(request), client.sendMessage(request)]);
    const task = (await client.sendMessage(request)) as Task;
    expect(await hears(one, [''])).toEqual(['COMPLETED']);
    await eventually(async () => ((await listed(task)).length === 0 ? true : undefined));
    await client.sendMessage(request);
    expect(await listed(task)).toEqual([]);
    expect(one.heard.map(({ state }) => state)).toEqual(['COMPLETED']);
  });

  it('have receivers that come later, which first hear how the task stands, and that go', async () => {
    const [first, second] = [await opened(), await opened()];
    const task = (await client.sendMessage(saying(refund, { contextId: `push-${++contexts}` }))) as Task;
    const config = (url: string, id: string) =>
      configOf(url, { id, taskId: task.id, authentication: { scheme: 'Bearer', credentials: 'hush' } });
    expect(await client.createTaskPushNotificationConfig(config(first.url, 'first'))).toMatchObject({ id: 'first', url: first.url });
    await client.createTaskPushNotificationConfig(config(second.url, 'second'));
    await Promise.all([hears(first, ['']), hears(second, [''])]);
    const kept = await listed(task);
    expect(kept.map(({ id, url }) => [id, url])).toEqual([
      ['first', first.url],
      ['second', second.url],
    ]);
    expect(JSON.stringify(kept)).not.toMatch(/hush|tok"/);
    const request = { tenant: '', taskId: task.id, id: 'first' };
    expect(await client.getTaskPushNotificationConfig(request)).toMatchObject({ url: first.url, authentication: { scheme: 'Bearer' } });
    await client.deleteTaskPushNotificationConfig(request);
    await client.deleteTaskPushNotificationConfig(request);
    await expect(client.getTaskPushNotificationConfig(request)).rejects.toThrow(/no push notification config "first"/);
    await answer(task);
    expect(await hears(second, ['', '', ''])).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    expect(statesOf(first)).toEqual(['INPUT_REQUIRED']);
  });

  it('go on for other receivers when one wants no more, and never follow a redirect', async () => {
    const [gone, good] = [await opened(), await opened()];
    gone.status = 410;
    const task = (await client.sendMessage(telling(refund, configOf(gone.url, { id: 'gone' })))) as Task;
    await client.createTaskPushNotificationConfig(configOf(good.url, { id: 'good', taskId: task.id }));
    await eventually(async () => ((await listed(task)).every(({ id }) => id === 'good') ? true : undefined));
    gone.status = 200;
    await answer(task);
    expect(await hears(good, ['', '', ''])).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    expect(statesOf(gone)).toEqual([]);
  });

  it('have ten receivers of a task at most, however many ask at once', async () => {
    const one = await opened();
    const task = (await client.sendMessage(saying(refund, { contextId: `push-${++contexts}` }))) as Task;
    const asked = Array.from({ length: 40 }, (_, index) =>
      client.createTaskPushNotificationConfig(configOf(`${one.url}?${index}`, { id: `c${index}`, taskId: task.id })),
    );
    const codes = await Promise.all(asked.map((one) => one.then(() => 'kept', codeOf)));
    const kept = await eventually(async () => {
      const ids = (await listed(task)).map(({ id }) => id);
      return ids.length === 10 ? ids : undefined;
    });
    // A send that waited too long for a worker has an unknown result.
    for (const [index, code] of codes.entries())
      if (code !== 'worker-missing') expect([index, code]).toEqual([index, kept.includes(`c${index}`) ? 'kept' : 'push-refused']);
    await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    await eventually(async () => (statesOf(one).filter((state) => state === 'CANCELED').length === 10 ? true : undefined));
  });

  it('are refused before anything begins where they may not go, or have a wrong form', async () => {
    const contextId = `push-${++contexts}`;
    const refused = (config: Partial<TaskPushNotificationConfig>) =>
      client.sendMessage(telling(refund, configOf('http://127.0.0.1:9/', config), { contextId })).then(() => 'sent', codeOf);
    expect(await refused({ url: 'https://example.com/' })).toBe('push-refused');
    expect(await refused({ url: 'http://169.254.169.254/latest' })).toBe('push-refused');
    expect(await refused({ token: 'a\r\nx: y' })).toBe('request-invalid');
    expect(await refused({ authentication: { scheme: 'Bearer x', credentials: 'y' } })).toBe('request-invalid');
    expect(await refused({ authentication: { scheme: 'Bearer', credentials: 'y\n' } })).toBe('request-invalid');
    expect(await refused({ id: 'a/b' })).toBe('request-invalid');
    expect((await client.listTasks({ tenant: '', contextId, status: 0, pageToken: '', statusTimestampAfter: undefined })).totalSize).toBe(
      0,
    );
    await expect(client.createTaskPushNotificationConfig(configOf('http://127.0.0.1:9/', { taskId: 'no~task' }))).rejects.toThrow(
      /no task/,
    );
  });
});
