import { isRecord } from '../../contract/check';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { MaybePromise } from '../../contract/maybe-promise';
import { notJson } from '../../contract/messages/messages';
import { shown } from '../../contract/shown';
import type { Logger } from '../../host/logger';
import type { AguiEvent, LastEvent } from './events';
import type { TranslateContext, Translator } from './translate';

/** Events on which no other event depends. */
export type HookEvent = Extract<AguiEvent, { type: 'CUSTOM' | 'ACTIVITY_SNAPSHOT' | 'ACTIVITY_DELTA' }>;

export interface HookedRun extends TranslateContext {
  /** Aborts when the run is cancelled, and when the reader goes away. */
  readonly signal: AbortSignal;
  /** Sends an event past the callbacks and the history. */
  emit(event: HookEvent): void;
}

export interface RunHook {
  readonly name: string;
  /** Before the message is sent. An error ends the run without the message. */
  readonly beforeRun?: (run: HookedRun) => MaybePromise<void>;
  /** Before the last event. An error replaces `RUN_FINISHED`. */
  readonly afterRun?: (run: HookedRun, last: LastEvent) => MaybePromise<void>;
}

const mayEmit: readonly string[] = ['CUSTOM', 'ACTIVITY_SNAPSHOT', 'ACTIVITY_DELTA'] satisfies readonly HookEvent['type'][];

export class RunHooks {
  private readonly begun: RunHook[] = [];
  private readonly emitted: HookEvent[] = [];
  private readonly cancelled = new AbortController();
  private readonly over = new AbortController();
  private wake: () => void = () => undefined;

  constructor(
    private readonly hooks: readonly RunHook[],
    private readonly context: TranslateContext,
    private readonly translator: Translator,
    private readonly logger: Logger,
  ) {}

  async begin(): Promise<void> {
    for (const hook of this.hooks) {
      await asked(hook.name, 'beforeRun', () => hook.beforeRun?.(this.runFor(hook)));
      this.begun.push(hook);
    }
  }

  /** After a stop, abort errors of hooks do not count as errors of the run. */
  cancel(): void {
    this.cancelled.abort();
  }

  async *end(last: LastEvent): AsyncGenerator<AguiEvent, void, void> {
    let end = last;
    for (const hook of this.begun) {
      try {
        await asked(hook.name, 'afterRun', () => hook.afterRun?.(this.runFor(hook), end));
      } catch (error) {
        if (this.isOfCancel(error)) continue;
        if (end.type === 'RUN_ERROR') this.logger.warn('A run hook failed behind a run that had failed', { error });
        else end = { type: 'RUN_ERROR', message: messageOf(error), code: 'hook-failed' };
      }
    }
    yield end === last ? last : await this.translator.after(end).catch(() => end);
  }

  close(): void {
    this.over.abort();
  }

  async *beside(events: AsyncGenerator<AguiEvent>): AsyncGenerator<{ readonly event: AguiEvent; readonly isOfHook: boolean }, void, void> {
    try {
      let next = events.next();
      for (;;) {
        const come = await Promise.race([next, this.more()]);
        for (const event of this.emitted.splice(0)) yield { event, isOfHook: true };
        if (come === undefined) continue;
        if (come.done === true) return;
        yield { event: come.value, isOfHook: false };
        next = events.next();
      }
    } finally {
      await events.return(undefined);
    }
  }

  /** A new promise for each wait: reactions to one promise would add up in a long run. */
  private more(): Promise<undefined> {
    if (this.emitted.length > 0) return Promise.resolve(undefined);
    return new Promise((resolve) => (this.wake = () => resolve(undefined)));
  }

  private runFor({ name }: RunHook): HookedRun {
    const signal = AbortSignal.any([this.cancelled.signal, this.over.signal]);
    return { ...this.context, signal, emit: (event) => this.emit(name, event) };
  }

  private emit(hook: string, event: HookEvent): void {
    const problem = this.problemOf(event);
    if (problem !== undefined) throw new HoldfastError('hook-failed', `emit of the run hook "${hook}": ${problem}`);
    this.emitted.push(event);
    this.wake();
  }

  private problemOf(event: unknown): string | undefined {
    if (this.over.signal.aborted) return 'the run has ended.';
    if (this.translator.isAsking) return 'a translate callback must not emit. Let it return an event.';
    const type = isRecord(event) ? event['type'] : undefined;
    if (typeof type !== 'string' || !mayEmit.includes(type))
      return `the event must be one of ${mayEmit.join(', ')}. It is ${shown(type ?? event)}.`;
    const misfit =
      type === 'CUSTOM' && (event as Partial<Record<string, unknown>>)['value'] === undefined ? 'it has no value' : notJson(event);
    return misfit === undefined ? undefined : `the event must be JSON: ${misfit}.`;
  }

  private isOfCancel(error: unknown): boolean {
    if (!this.cancelled.signal.aborted) return false;
    const { cause } = error as { readonly cause?: unknown };
    return isRecord(cause) && cause['name'] === 'AbortError';
  }
}

async function asked(hook: string, when: 'beforeRun' | 'afterRun', ask: () => MaybePromise<void>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    throw new HoldfastError('hook-failed', `${when} of the run hook "${hook}": ${messageOf(error)}`, { cause: error });
  }
}
