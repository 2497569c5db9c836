import type { RunEvent } from '../../../contract/events';
import { RunFeed } from '../../../console/data/run-feed';
import type { ShownRun } from '../../../client/http/index';

type Take = (event: RunEvent) => void;

const asked: { take?: Take; view?: (view: ShownRun) => void } = {};
// Jest cannot load Preact's signals. The tests need no dependencies between signals.
jest.mock('@preact/signals', () => ({
  signal: (value: unknown) => ({
    value,
    peek() {
      return this.value;
    },
  }),
}));
jest.mock('../../../console/data/service', () => ({ service: { view: () => new Promise((resolve) => (asked.view = resolve)) } }));
jest.mock('../../../console/data/follow-log', () => ({
  followLog: (_: string, { onEvent }: { readonly onEvent: Take }) => {
    asked.take = onEvent;
    return new Promise(() => undefined);
  },
}));

const event = (offset: number): RunEvent => ({ type: 'turn-start', turn: offset, offset, time: 0 }) as unknown as RunEvent;
const viewAt = (nextOffset: number): ShownRun => ({ id: 'r', status: 'running', nextOffset, interrupts: [] }) as unknown as ShownRun;
let frames: (() => void)[];
let feed: RunFeed;

const frame = (): void => frames.splice(0).forEach((draw) => draw());
const told = (view: ShownRun): Promise<void> => (asked.view?.(view), Promise.resolve());

beforeEach(() => {
  jest.useFakeTimers();
  frames = [];
  Object.assign(globalThis, {
    requestAnimationFrame: (draw: () => void) => frames.push(draw),
    cancelAnimationFrame: (handle: number) => frames.splice(handle - 1, 1),
  });
  feed = new RunFeed('r');
  feed.open();
});
afterEach(() => {
  feed.close();
  jest.useRealTimers();
});

describe('the log that a page reads', () => {
  it('is drawn once when all that was there has come, and not with each piece of it', async () => {
    await told(viewAt(3));
    asked.take?.(event(0));
    asked.take?.(event(1));
    frame();
    expect(feed.drawn.value).toBe(0);
    asked.take?.(event(2));
    frame();
    expect([feed.drawn.value, feed.isRead.value]).toEqual([1, true]);
    asked.take?.(event(3));
    frame();
    expect(feed.drawn.value).toBe(2);
    jest.advanceTimersByTime(300);
    expect(feed.drawn.value).toBe(2);
  });

  it('is drawn as soon as the page knows that it has all of it', async () => {
    asked.take?.(event(0));
    frame();
    expect(feed.drawn.value).toBe(0);
    await told(viewAt(1));
    await Promise.resolve();
    expect([feed.drawn.value, feed.isRead.value]).toEqual([1, true]);
  });

  it('is drawn now and then while more comes for long', async () => {
    await told(viewAt(1_000));
    for (let offset = 0; offset < 10; offset++) {
      asked.take?.(event(offset));
      jest.advanceTimersByTime(100);
    }
    expect(feed.drawn.value).toBe(3);
    expect(feed.isRead.value).toBe(false);
  });

  it('is followed by another look at the run soon, where the view that came is older', async () => {
    asked.take?.(event(0));
    asked.take?.(event(1));
    await told(viewAt(1));
    await Promise.resolve();
    expect(feed.drawn.value).toBe(1);
    const first = asked.view;
    Object.assign(globalThis, { document: { visibilityState: 'visible' } });
    jest.advanceTimersByTime(1_000);
    expect(asked.view).not.toBe(first);
  });
});
