import type { Delta, DeltaBody } from '../../../contract/deltas';
import { ProcessBus } from '../../../host/event-bus';

const origin = { agent: 'a', runPath: ['a'], address: 'a/t1/model', attempt: 1 } as const;
const delta = (body: DeltaBody, extra: Partial<Delta> = {}): Delta => ({ ...origin, ...body, ...extra }) as Delta;
const start = delta({ type: 'attempt-start' });
const text = (value: string): Delta => delta({ type: 'text-delta', text: value });

function listen(bus: ProcessBus, runId = 'run'): { readonly heard: Delta[]; stop: () => void } {
  const heard: Delta[] = [];
  return { heard, stop: bus.subscribe(runId, (one) => heard.push(one)) };
}

describe('the event bus of a process', () => {
  it('tells everybody who listens to a run, and nobody else', () => {
    const bus = new ProcessBus();
    const [one, two, other] = [listen(bus), listen(bus), listen(bus, 'other')];
    bus.publish('run', start);
    two.stop();
    bus.publish('run', text('a'));
    expect([one.heard, two.heard, other.heard]).toEqual([[start, text('a')], [start], []]);
  });

  it('tells a late listener the open attempts from their beginning', () => {
    const bus = new ProcessBus();
    bus.publish('run', start);
    bus.publish('run', text('a'));
    expect(listen(bus).heard).toEqual([start, text('a')]);
  });

  it('forgets an attempt that is void, but not that it is', () => {
    const bus = new ProcessBus();
    const voided = delta({ type: 'attempt-void' });
    const again = delta({ type: 'attempt-start' }, { attempt: 2 });
    bus.publish('run', start);
    bus.publish('run', text('a'));
    bus.publish('run', voided);
    expect(listen(bus).heard).toEqual([voided]);
    bus.publish('run', again);
    expect(listen(bus).heard).toEqual([voided, again]);
  });

  it('keeps nothing of a call that is over', () => {
    const bus = new ProcessBus();
    bus.publish('run', start);
    bus.settle('run', origin.address);
    expect(listen(bus).heard).toEqual([]);
  });

  it('keeps nothing of an attempt that is too long, rather than half of it', () => {
    const bus = new ProcessBus();
    const early = listen(bus);
    bus.publish('run', start);
    for (let count = 0; count < 20_001; count++) bus.publish('run', text('a'));
    expect(early.heard).toHaveLength(20_002);
    expect(listen(bus).heard).toEqual([]);
  });
});
