import { ServiceClient } from '../../client/http/index';
import type { FeedEvent } from '../../contract/feed';
import { DevWithClients, whenReachable } from '../support/dev-with-clients';
import { eventually } from '../support/eventually';

const dev = new DevWithClients('feed');
const runs = 100;
const readers = 20;

beforeAll(() => dev.open({ scripts: [], fields: 'feed: {},' }), 300_000);
afterAll(() => dev.close(), 60_000);

/** Reads to the end of the feed, and then as long as more may come. */
async function read(client: ServiceClient, mayEnd: () => boolean): Promise<readonly FeedEvent[]> {
  const found: FeedEvent[] = [];
  for (let since: string | undefined; ;) {
    const wasLast = mayEnd();
    const page = await whenReachable(() => client.feed({ limit: 70, ...(since === undefined ? {} : { since }) }));
    found.push(...page.events);
    since = page.next;
    if (page.more) continue;
    if (wasLast) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

it('gives 20 readers each event of 100 runs once and in order, while the service, the worker and the server are killed twice', async () => {
  const client = new ServiceClient(dev.url, { fetch: dev.fetch });
  let isOver = false;
  const reading = Promise.all(Array.from({ length: readers }, () => read(client, () => isOver)));
  const ids = Array.from({ length: runs }, (_, at) => `feed-${at}`);
  const start = async (some: readonly string[]): Promise<void> => {
    for (const id of some)
      await whenReachable(() =>
        client.start({ agent: 'support', id, input: id.endsWith('7') ? 'Refund order 42, it arrived broken' : 'Hello' }),
      );
  };
  const first = start(ids.slice(0, runs / 2));
  await eventually(async () => ((await whenReachable(() => client.feed({ limit: 1 }))).events.length > 0 ? true : undefined));
  await dev.crash();
  await first;
  const second = start(ids.slice(runs / 2));
  await dev.crash();
  await second;

  const logs = new Map<string, readonly number[]>();
  for (const id of ids) {
    const offsets: number[] = [];
    for await (const { offset } of client.events(id, { until: 'waiting' })) offsets.push(offset);
    logs.set(id, offsets);
  }
  const count = [...logs.values()].reduce((sum, { length }) => sum + length, 0);
  await eventually(async () => {
    let seen = 0;
    for (let page = await client.feed({ limit: 1000 }); ; page = await client.feed({ limit: 1000, since: page.next })) {
      seen += page.events.length;
      if (!page.more) return seen >= count ? true : undefined;
    }
  });
  isOver = true;
  for (const found of await reading) {
    const offsets = new Map<string, number[]>();
    for (const { run, event } of found) offsets.set(run, [...(offsets.get(run) ?? []), event.offset]);
    expect(offsets).toEqual(logs);
  }
}, 300_000);
