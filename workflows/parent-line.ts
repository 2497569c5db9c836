import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { EventBody } from '../contract/events';
import { eventsOfInterrupts } from '../contract/events';
import { jsonSize, limits } from '../contract/limits';
import { names, workflowIdOf } from '../contract/names';
import type { ChildNews, StartInput } from '../contract/record/wire';

/** Sends one signal at a time, because parallel signals may arrive in another order. */
export class ParentLine {
  private news: EventBody[] = [];
  private underWay: readonly EventBody[] = [];
  private isBusy = false;

  constructor(
    private readonly start: StartInput,
    /** An open signal could be lost by a continue-as-new. */
    private readonly whileBusy: (sending: Promise<void>) => Promise<void>,
    private readonly ask: (make: () => Promise<void>) => Promise<void>,
    private readonly sent: (bytes: number) => void,
  ) {}

  /** The last task sends no signal, so the result carries the remaining news, or only the ends of interrupts if the news does not fit. */
  get untold(): readonly EventBody[] {
    const all = [...this.underWay, ...this.news];
    if (jsonSize(all) <= limits.lastNews) return all;
    const ends = all.filter(({ type }) => type === 'interrupt-end');
    return jsonSize(ends) <= limits.lastNews ? ends : [];
  }

  tell(event: EventBody): void {
    if (!eventsOfInterrupts.includes(event.type)) return;
    this.news.push(event);
    if (this.isBusy) return;
    this.isBusy = true;
    void this.whileBusy(this.send());
  }

  leave(left: NonNullable<ChildNews['left']>): Promise<void> {
    const { usage, session } = left;
    if (session === undefined && usage.inputTokens === 0 && usage.outputTokens === 0) return Promise.resolve();
    const news: ChildNews = { run: this.start.id, events: [], left };
    const sending = this.ask(() => this.signal(news));
    return this.whileBusy(sending).catch(() => undefined);
  }

  private async send(): Promise<void> {
    try {
      while (this.news.length > 0) {
        await this.ask(() => {
          this.underWay = this.taken();
          const news: ChildNews = { run: this.start.id, events: this.underWay };
          this.sent(jsonSize(news));
          return this.signal(news);
        });
        this.underWay = [];
      }
    } catch {
      // The parent has ended or takes no signals. People can still answer this run directly.
      this.news = [];
      this.underWay = [];
    } finally {
      this.isBusy = false;
    }
  }

  private signal(news: ChildNews): Promise<void> {
    const { tenant, parent } = this.start;
    return getExternalWorkflowHandle(workflowIdOf(tenant, parent?.id ?? '')).signal(names.childSignal, news);
  }

  private taken(): readonly EventBody[] {
    let bytes = 0;
    let count = 0;
    for (const event of this.news) {
      bytes += jsonSize(event);
      if (count > 0 && bytes > limits.payload / 2) break;
      count += 1;
    }
    return this.news.splice(0, count);
  }
}
