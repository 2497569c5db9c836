import { AsyncLocalStorage } from 'node:async_hooks';
import { isRecord } from '../../contract/check';
import type { Delta } from '../../contract/deltas';
import { HoldfastError, messageOf } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import type { MaybePromise } from '../../contract/maybe-promise';
import { shown } from '../../contract/shown';
import type { Logger } from '../../host/logger';
import type { AguiEvent } from './events';

export interface TranslateContext {
  readonly agent: string;
  readonly threadId: string;
  readonly runId: string;
}

/** Reads or replaces events of the run. */
export interface EventPlugin {
  readonly name: string;
  onEvent(event: RunEvent | Delta, context: TranslateContext): MaybePromise<RunEvent | Delta | undefined | void>;
}

type BeforeTranslate = (event: RunEvent | Delta, context: TranslateContext) => MaybePromise<RunEvent | Delta | undefined | void>;
type AfterTranslate = (event: AguiEvent, context: TranslateContext) => MaybePromise<AguiEvent | undefined | void>;

export interface TranslateOptions {
  /** For each event of the run, before the translation. */
  readonly before?: readonly BeforeTranslate[];
  /** For each event of AG-UI, before the client gets the event. */
  readonly after?: readonly AfterTranslate[];
}

const asking = new AsyncLocalStorage<Translator>();

/** The first event that a callback returns counts. An error ends the run. */
export class Translator {
  constructor(
    private readonly options: { readonly translate?: TranslateOptions; readonly plugins?: readonly EventPlugin[] },
    private readonly context: TranslateContext,
    private readonly logger: Logger,
  ) {}

  get isAsking(): boolean {
    return asking.getStore() === this;
  }

  before(event: RunEvent | Delta): Promise<RunEvent | Delta> {
    return asking.run(this, async () => {
      const seen = await this.throughPlugins(event);
      return (await first(this.options.translate?.before ?? [], seen, this.context, 'before')) ?? seen;
    });
  }

  after(event: AguiEvent): Promise<AguiEvent> {
    return asking.run(this, async () => (await first(this.options.translate?.after ?? [], event, this.context, 'after')) ?? event);
  }

  /** Each plugin gets the event of its predecessor. A plugin that throws is skipped. */
  private async throughPlugins(event: RunEvent | Delta): Promise<RunEvent | Delta> {
    let seen = event;
    for (const plugin of this.options.plugins ?? []) {
      try {
        // The new event keeps offset and time.
        const replaced = await plugin.onEvent(seen, this.context);
        if (replaced !== undefined) seen = { ...placeOf(seen), ...replaced } as RunEvent | Delta;
      } catch (error) {
        this.logger.warn(`The plugin "${plugin.name}" failed at an event`, { event: seen.type, error });
      }
    }
    return seen;
  }
}

function placeOf(event: RunEvent | Delta): { readonly offset?: number; readonly time?: number } {
  return event.offset === undefined ? {} : { offset: event.offset, time: event.time };
}

async function first<Event>(
  callbacks: readonly ((event: Event, context: TranslateContext) => MaybePromise<Event | undefined | void>)[],
  event: Event,
  context: TranslateContext,
  phase: 'before' | 'after',
): Promise<Event | undefined> {
  try {
    for (const callback of callbacks) {
      const replaced: unknown = await callback(event, context);
      if (replaced === undefined || replaced === null) continue;
      if (isRecord(replaced) && typeof replaced['type'] === 'string') return replaced as Event;
      throw new Error(`It must return an event, or nothing. It returned ${shown(replaced)}.`);
    }
    return undefined;
  } catch (error) {
    throw new TranslateError(phase, error);
  }
}

/** An error of a callback ends the stream, and stops the turn. */
export class TranslateError extends HoldfastError {
  constructor(
    readonly phase: 'before' | 'after',
    cause: unknown,
  ) {
    super('callback-failed', `${phase} translate callback: ${messageOf(cause)}`, { cause });
  }
}
