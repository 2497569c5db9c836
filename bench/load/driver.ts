import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from './jobs';
import { jobText, planOf } from './jobs';

export interface LoadResult {
  readonly completed: number;
  readonly cancelled: number;
  /** Answers of people, and those among them about calls that were in doubt. */
  readonly answered: number;
  readonly inDoubt: number;
  /** From the start to the end of each run. */
  readonly endMs: readonly number[];
  /** What became of runs that did not end as they should, by their id. */
  readonly wrong: ReadonlyMap<string, string>;
}

interface Waiting {
  readonly runId: string;
  readonly interrupt: { readonly id: string; readonly kind: string; readonly info?: { readonly input?: { readonly label?: string } } };
}

interface Ending {
  readonly job: Job;
  readonly view: View;
  readonly ms: number;
}

interface View {
  readonly status?: string;
  readonly output?: unknown;
}

/** How long a request is made again while service or server are away. */
const patienceMs = 120_000;
/** How long a run may take. */
const endsWithinMs = 300_000;
const inboxMs = 1000;
/** While so many runs are open no other is started: a machine that is too slow takes longer, and is not buried. */
const mostOpen = 100;
const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Starts jobs over HTTP one after another, follows each, and answers what waits, as people with an inbox do. */
export class LoadDriver {
  private readonly jobs = new Map<string, Job>();
  private readonly decided = new Set<string>();
  private answered = 0;
  private inDoubt = 0;
  private reached: { readonly started: number; readonly tell: () => void }[] = [];

  constructor(
    private readonly url: string,
    /** Whether the effect was counted outside: what a person looks at who is asked about a call in doubt. */
    private readonly happened: (label: string) => Promise<boolean>,
  ) {}

  /** Spreads the starts over the time. Settles when all runs have ended, or should have. */
  async drive(jobs: readonly Job[], totalMs: number): Promise<LoadResult> {
    const began = performance.now();
    let over = false;
    const inbox = (async () => {
      while (!over) {
        await this.answerAll().catch((error: unknown) => console.error(`The inbox: ${String(error)}`));
        await delay(inboxMs);
      }
    })();
    const endings: Promise<Ending>[] = [];
    let open = 0;
    for (const [position, job] of jobs.entries()) {
      await delay(Math.max(0, began + (position * totalMs) / jobs.length - performance.now()));
      while (open >= mostOpen) await delay(20);
      open++;
      this.jobs.set(job.id, job);
      endings.push(this.ended(job).finally(() => open--));
      this.reached = this.reached.filter(({ started, tell }) => position + 1 < started || tell());
    }
    const all = await Promise.all(endings);
    over = true;
    await inbox;
    const wrong = new Map(
      all.filter(({ job, view }) => !isRight(job, view)).map(({ job, view }) => [job.id, `${job.kind} ${JSON.stringify(view)}`]),
    );
    const count = (status: string): number => all.filter(({ view }) => view.status === status).length;
    return {
      completed: count('completed'),
      cancelled: count('cancelled'),
      answered: this.answered,
      inDoubt: this.inDoubt,
      endMs: all.map(({ ms }) => ms),
      wrong,
    };
  }

  /** Settles when so many runs have been started. */
  async untilStarted(count: number): Promise<void> {
    if (this.jobs.size < count) await new Promise<void>((tell) => this.reached.push({ started: count, tell }));
  }

  private async ended(job: Job): Promise<Ending> {
    const began = performance.now();
    const until = began + endsWithinMs;
    try {
      await this.ask('POST', '/runs', { agent: planOf(job).agent, input: jobText(job), id: job.id });
      for (;;) {
        await this.follow(job.id, until);
        const view = (await this.ask('GET', `/runs/${job.id}`)) as View;
        if (ended.has(view.status ?? '') || performance.now() > until) return { job, view, ms: performance.now() - began };
        await delay(200);
      }
    } catch (error) {
      return { job, view: { status: String(error) }, ms: performance.now() - began };
    }
  }

  /** Reads the run's events to their end, or to that of the connection. */
  private async follow(id: string, until: number): Promise<void> {
    try {
      const signal = AbortSignal.timeout(Math.max(1, until - performance.now()));
      const response = await fetch(`${this.url}/runs/${id}/events?deltas=false`, { signal });
      for await (const chunk of response.body ?? []) void chunk;
    } catch {
      // The view of the run says how it stands.
    }
  }

  private async answerAll(): Promise<void> {
    const { interrupts } = (await this.ask('GET', '/interrupts?limit=1000')) as { readonly interrupts: readonly Waiting[] };
    await Promise.all(interrupts.map((waiting) => this.answer(waiting)));
  }

  private async answer({ runId, interrupt }: Waiting): Promise<void> {
    const job = this.jobs.get(runId);
    const key = `${runId} ${interrupt.id}`;
    if (job === undefined || this.decided.has(key)) return;
    this.decided.add(key);
    const path = `/runs/${runId}/interrupts/${interrupt.id}`;
    const label = interrupt.info?.input?.label ?? '';
    const { decision } = planOf(job);
    if (interrupt.kind === 'in-doubt') {
      this.inDoubt++;
      const answer = (await this.happened(label)) ? { happened: true, result: 'counted' } : { happened: false };
      await this.ask('POST', path, { answer, by: 'bench' });
    } else if (decision === 'cancel') await this.ask('POST', `/runs/${runId}/cancel`, {});
    else if (decision !== undefined) await this.ask('POST', path, { decision, by: 'bench' });
    this.answered++;
  }

  /** Asks until there is an answer. What was refused, such as a second answer after the first one was lost, is left at that. */
  private async ask(method: string, path: string, body?: object): Promise<unknown> {
    const until = performance.now() + patienceMs;
    for (;;) {
      try {
        const response = await fetch(`${this.url}${path}`, {
          method,
          ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        });
        const said: unknown = await response.json();
        if (response.status < 500) return said;
        if (performance.now() > until) throw new Error(`${method} ${path}: ${JSON.stringify(said)}`);
      } catch (error) {
        if (performance.now() > until) throw error;
      }
      await delay(500);
    }
  }
}

function isRight(job: Job, { status, output }: View): boolean {
  const { agent, decision } = planOf(job);
  if (decision === 'cancel') return status === 'cancelled';
  return status === 'completed' && (agent === 'pair' || output === `Done: ${job.id}.`);
}
