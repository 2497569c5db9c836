import type { RunEvent, RunView } from '../../contract/events';
import type { StoredRequest } from '../../contract/record/wire';
import { HistoryFold } from '../../contract/record/fold';
import type { HistoryFact } from '../../contract/record/history-fact';
import type { RunLocalValues } from '../../contract/run-local';
import { RunLocalFold } from '../../contract/run-local';

type WithoutTime<Fact> = Fact extends HistoryFact ? Omit<Fact, 'time'> : never;

/** The history of a run in memory, as JSON, read by the server's fold. */
export class MemoryRecord {
  private readonly fold = new HistoryFold();
  private readonly runLocal = new RunLocalFold();
  private readonly log: RunEvent[] = [];
  readonly facts: HistoryFact[] = [];
  private eventId = 0;
  private uuids = 0;
  private randoms = 0;
  private grown: () => void = () => undefined;
  private growth = new Promise<void>((resolve) => (this.grown = resolve));

  constructor(
    private readonly now: () => number,
    private readonly firstOffset: number,
  ) {}

  get events(): readonly RunEvent[] {
    return this.log;
  }

  get nextOffset(): number {
    return this.fold.nextOffset;
  }

  get ended(): boolean {
    return this.fold.ended;
  }

  get more(): Promise<void> {
    return this.growth;
  }

  view(): RunView {
    return this.fold.view();
  }

  requestOf(address: string): StoredRequest {
    return asJson(this.fold.requestOf(address) ?? { messages: [], slots: {} });
  }

  valuesOf(address: string): RunLocalValues {
    return asJson(this.runLocal.valuesOf(address) ?? {});
  }

  write(fact: WithoutTime<HistoryFact>): void {
    const written = asJson({ ...fact, time: this.now() }) as HistoryFact;
    this.facts.push(written);
    this.runLocal.add(written);
    const events = this.fold.add(written);
    if (events.length === 0) return;
    this.log.push(...events);
    const { grown } = this;
    this.growth = new Promise((resolve) => (this.grown = resolve));
    grown();
  }

  nextEventId(): number {
    return ++this.eventId;
  }

  /** From 0 up to 1, equal in every run of a test: fractions of multiples of the golden ratio are evenly spread. */
  random(): number {
    return (++this.randoms * 0.618_033_988_749_895) % 1;
  }

  /** Unique, and equal in every run of a test. */
  uuid(): string {
    return `${this.firstOffset.toString(16).padStart(8, '0')}-0000-4000-8000-${(++this.uuids).toString(16).padStart(12, '0')}`;
  }
}

/** A copy with JSON only, as after a way through a server. */
export function asJson<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}
