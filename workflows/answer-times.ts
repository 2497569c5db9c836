import { ActivityFailure } from '@temporalio/workflow';
import { rootRunId } from '../contract/record/child-runs';
import type { Answer, Interrupt } from '../contract/interrupts';
import { interruptIdAt } from '../contract/interrupts';
import { names, workflowIdOf } from '../contract/names';
import type { AnswerTime, AnswersElsewhere, ElsewhereAnswer } from '../contract/record/answer-times';
import type { StartInput } from '../contract/record/wire';
import type { ShortActivities } from './short-activities';
import type { Timeline } from './timeline';
import { isCancellation } from '../kernel/effects/errors';

interface TimedAnswer {
  readonly answer: Answer;
  readonly event: number;
  readonly came: (at: number) => void;
}

/** A worker reads a history again until it can: to guess when an answer came would be to lose it, or to take it too late. */
const attempts = 1000;
const timeoutMs = 30_000;

/**
 * When the server took the answers that a run finds beside something that is over. A handler is not told the time of its signal, so a worker
 * looks into the history. Answers that come while nothing is over need none of this.
 */
export class AnswerTimes {
  private asked: TimedAnswer[] = [];

  constructor(
    private readonly start: StartInput,
    private readonly short: ShortActivities,
    private readonly timeline: Timeline,
  ) {}

  /** Lets an answer come in the turn that the time of its signal gives it. */
  ask(answer: Answer, event: number, came: (at: number) => void): void {
    this.asked.push({ answer, event, came });
    if (this.asked.length === 1) this.timeline.holdFor(this.read());
  }

  /** When the server took a signal, by the number of its event. */
  async timeOfSignal(event: number): Promise<number> {
    const times = await this.timesOf([event]);
    return times?.[0]?.at ?? Date.now();
  }

  private async read(): Promise<void> {
    // All that came with this task.
    await Promise.resolve();
    const asked = this.asked.splice(0);
    const times = await this.timesOf(asked.map(({ event }) => event));
    if (times === undefined) return;
    asked.forEach(({ answer, came }, position) => {
      const at = this.timeOf(answer, times[position]);
      this.timeline.at(at, () => came(at));
    });
  }

  private async timesOf(events: readonly number[]): Promise<readonly (AnswerTime | null)[] | undefined> {
    try {
      return await this.short.urgent<readonly (AnswerTime | null)[]>(names.timesActivity, [events], timeoutMs, attempts);
    } catch (error) {
      // The run is cancelled: no answer counts any more.
      if (isCancellation(error)) return undefined;
      // A worker that lacks the activity fails the task, until one comes that has it.
      if (!(error instanceof ActivityFailure)) throw error;
      return [];
    }
  }

  /** An answer that was handed on counts from when the run took it that somebody gave it to. What has no time came just now. */
  private timeOf({ at }: Answer, time: AnswerTime | null | undefined): number {
    const { tenant, parent } = this.start;
    if (time == null) return Date.now();
    const isHandedOn = parent !== undefined && time.from === workflowIdOf(tenant, parent.id);
    return isHandedOn && at !== undefined ? Math.min(at, time.at) : time.at;
  }

  /**
   * Looks whether somebody has answered an isolated agent in time in the run that somebody started, which may not have handed it on yet.
   * Absent: there is no such run, or nothing is asked.
   */
  elsewhere(interrupts: readonly Interrupt[], came: (answer: Answer, at: number) => void): Promise<void> | undefined {
    const { tenant, id, parent } = this.start;
    const path = parent?.path;
    if (path === undefined || interrupts.length === 0) return undefined;
    const there = interrupts.map((interrupt) => ({ ...interrupt, id: interruptIdAt(path, interrupt) }));
    const request: AnswersElsewhere = { workflowId: workflowIdOf(tenant, rootRunId(id)), interrupts: there };
    return this.short.urgent<readonly (ElsewhereAnswer | null)[]>(names.elsewhereActivity, [request], timeoutMs, attempts).then(
      (found) =>
        interrupts.forEach((interrupt, position) => {
          const { at, ...answer } = found[position] ?? {};
          if (at !== undefined) this.timeline.at(at, () => came({ ...(answer as Answer), interruptId: interrupt.id }, at));
        }),
      (error: unknown) => {
        if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
      },
    );
  }
}
