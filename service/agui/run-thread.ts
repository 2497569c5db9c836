import type { ClientTool } from '../../contract/client-tools';
import { defined } from '../../contract/defined';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import type { RunEvent, RunView } from '../../contract/events';
import { textOf } from '../../contract/messages/messages';
import type { Json } from '../../contract/messages/messages';
import { Projection } from '../projection/projection';
import type { AguiEvent, AguiMessage, AguiOutcome, LastEvent } from './events';
import { isTerminal } from './events';
import { externalCallIn } from '../../contract/external-calls';
import type { SnapshotHere } from './frames';
import { AguiFrames, usageOf } from './frames';
import { historyOf } from './history';
import type { RunAgentInput } from './input';
import { interruptOf } from './interrupts';
import { resultEventOf, toolMessageOf, withIdsOf } from './given-results';
import { clientIdOf } from './message-ids';
import type { ThreadPlan } from './plan';
import type { RunHooks } from './run-hooks';
import type { Thread } from '../projection/thread';
import { listen, logBetween, readThread } from '../projection/thread-log';
import type { Translator } from './translate';
import { TranslateError } from './translate';

interface ThreadRun {
  readonly thread: Thread;
  readonly input: Pick<RunAgentInput, 'threadId' | 'runId' | 'parentRunId' | 'protocolVersion' | 'messages'>;
  readonly tools: readonly ClientTool[];
  /** Throws errors that the client gets as errors of the run. */
  readonly plan: () => Promise<ThreadPlan>;
  readonly translator: Translator;
  readonly hooks: RunHooks;
  /** Ends the stream, not the run. */
  readonly signal: AbortSignal;
}

type TurnEnd = Extract<RunEvent, { type: 'turn-end' }>;

/** The events of a turn until the turn ends or waits. Exactly one last event ends the run. */
export async function* runThread(run: ThreadRun): AsyncGenerator<AguiEvent, void, void> {
  const { translator, thread, hooks } = run;
  const reading = new ThreadReading(run);
  let last: LastEvent = { type: 'RUN_FINISHED', threadId: run.input.threadId, runId: run.input.runId };
  try {
    try {
      for await (const { event, isOfHook } of hooks.beside(reading.all())) {
        const shown = isOfHook ? event : await translator.after(event);
        if (isTerminal(shown)) {
          last = shown;
          break;
        }
        yield shown;
      }
    } catch (error) {
      const failed: LastEvent = { type: 'RUN_ERROR', message: messageOf(error), code: codeOf(error) ?? 'internal' };
      const phase = error instanceof TranslateError ? error.phase : undefined;
      if (phase !== undefined && reading.hasBegun) await thread.stop().catch(() => undefined);
      const shown = phase === 'after' ? failed : await translator.after(failed).catch(() => failed);
      last = isTerminal(shown) ? shown : failed;
    }
    for await (const { event } of hooks.beside(hooks.end(last))) yield event;
  } finally {
    hooks.close();
  }
}

class ThreadReading {
  private readonly projection = new Projection();
  private frames = new AguiFrames(() => false);
  private offset = 0;
  private readonly over = new AbortController();
  hasBegun = false;

  constructor(private readonly run: ThreadRun) {}

  async *all(): AsyncGenerator<AguiEvent, void, void> {
    const { threadId, runId, protocolVersion, parentRunId } = this.run.input;
    yield { type: 'RUN_STARTED', threadId, runId, ...defined({ protocolVersion, parentRunId }) };
    const plan = await this.run.plan();
    try {
      if (plan.type === 'history') return yield* this.history();
      if (plan.type === 'answer') for (const message of plan.given) yield resultEventOf(message);
      await this.run.hooks.begin();
      this.offset = plan.offset;
      await listen(this.run.thread, this.offset, AbortSignal.any([this.run.signal, this.over.signal]));
      yield* plan.type === 'say' ? this.say(plan) : this.answer(plan);
    } finally {
      this.over.abort();
    }
  }

  private async *say({ id, content, by, isSent }: Extract<ThreadPlan, { type: 'say' }>): AsyncGenerator<AguiEvent, void, void> {
    const { thread, tools } = this.run;
    if (!isSent) await thread.send(content, { id, ...defined({ by, tools: tools.length === 0 ? undefined : tools }) });
    this.hasBegun = true;
    this.frames = new AguiFrames((known) => known === clientIdOf(id));
    if (await this.reaches((event) => event.type === 'message' && event.id === id)) yield* this.follow();
    else yield* this.ended(await thread.view());
  }

  private async *answer({ answers, given, offset }: Extract<ThreadPlan, { type: 'answer' }>): AsyncGenerator<AguiEvent, void, void> {
    const { thread } = this.run;
    // Results beside the interrupts are in no stream that the client has read.
    const messages = await this.messagesTo(offset);
    // The client has its result as a message and as an event; only a snapshot without the result removes both.
    if (given.length > 0) yield { type: 'MESSAGES_SNAPSHOT', messages };
    yield { type: 'MESSAGES_SNAPSHOT', messages: [...messages, ...given.map(toolMessageOf)] };
    this.frames = new AguiFrames(() => false, new Set(given.map(({ toolCallId }) => toolCallId)));
    this.hasBegun = true;
    for (const { interruptId, answer, ...who } of answers) await thread.answer(interruptId, answer, who);
    yield* this.follow();
  }

  private async *history(): AsyncGenerator<AguiEvent, void, void> {
    const { view, log, broken } = await readThread(this.run.thread, this.run.signal);
    const { messages, state } = historyOf(log);
    yield { type: 'MESSAGES_SNAPSHOT', messages: withIdsOf(this.run.input.messages, messages) };
    yield* state;
    if (broken !== undefined) throw broken.error;
    this.offset = view?.nextOffset ?? 0;
    if (view?.conversation?.status === 'working' && view.status === 'running') return yield* this.follow();
    const last = log.filter((event): event is TurnEnd => event.type === 'turn-end').at(-1);
    if (view?.interrupts.length === 0 && last !== undefined && last.turn === view.conversation?.turn)
      return yield this.endOf(last, undefined);
    yield* this.ended(view);
  }

  private async *follow(): AsyncGenerator<AguiEvent, void, void> {
    const { thread, signal, translator } = this.run;
    for (;;) {
      let text: string | undefined;
      for await (const raw of thread.events({ from: this.offset, until: 'waiting', signal })) {
        const event = await translator.before(raw);
        if (raw.offset !== undefined) this.offset = raw.offset + 1;
        if (event.type === 'model-end' || event.type === 'agent-message') text = textOf(event.message);
        for (const step of this.projection.take(event)) for (const shown of this.frames.take(step)) yield* this.whole(shown);
        if (event.type === 'turn-end') {
          yield* this.closed('success');
          return yield this.endOf(event, text);
        }
        if (event.type === 'run-end') return yield* this.ended(await thread.view());
      }
      if (signal.aborted) throw new HoldfastError('service-closing', 'The service closes. The run goes on.');
      const view = await thread.view();
      // The run got an answer meanwhile.
      if (view !== undefined && view.nextOffset > this.offset) continue;
      if (view?.status !== 'running') return yield* this.ended(view);
    }
  }

  private async *ended(view: RunView | undefined): AsyncGenerator<AguiEvent, void, void> {
    yield* this.closed('suspended');
    const { threadId, runId } = this.run.input;
    if (view?.status === 'stuck' || view?.status === 'failed')
      return yield { type: 'RUN_ERROR', message: view.error?.message ?? 'The run has failed.', code: view.error?.code ?? 'run-failed' };
    if (view?.status === 'cancelled') return yield this.cancelled();
    const waiting = view?.interrupts ?? [];
    if (waiting.length > 0) yield { type: 'MESSAGES_SNAPSHOT', messages: await this.messagesTo(this.offset) };
    yield { type: 'RUN_FINISHED', threadId, runId, outcome: this.outcomeOf(waiting) };
  }

  private outcomeOf(waiting: RunView['interrupts']): AguiOutcome {
    const interrupts = waiting.filter((interrupt) => externalCallIn(interrupt) === undefined).map(interruptOf);
    if (interrupts.length > 0) return { type: 'interrupt', interrupts };
    const pendingToolCallIds = waiting.flatMap((interrupt) => externalCallIn(interrupt)?.callId ?? []);
    return { type: 'success', ...(pendingToolCallIds.length > 0 && this.isOfOne ? { pendingToolCallIds } : {}) };
  }

  private endOf({ status, output, error, usage }: TurnEnd, text: string | undefined): AguiEvent {
    const { threadId, runId } = this.run.input;
    const used = usageOf(usage);
    if (status === 'failed')
      return {
        type: 'RUN_ERROR',
        message: error?.message ?? 'The turn has failed.',
        ...defined({ code: error?.code }),
        ...(used.length === 0 ? {} : { usage: used }),
      };
    if (status === 'stopped') return this.cancelled();
    const result: Json | undefined = output ?? text;
    return {
      type: 'RUN_FINISHED',
      threadId,
      runId,
      ...(result === undefined || result === null ? {} : { result }),
      outcome: { type: 'success' },
      ...(used.length === 0 ? {} : { usage: used }),
    };
  }

  /** Clients before AG-UI 1.0 do not know `cancelled`. */
  private cancelled(): AguiEvent {
    this.run.hooks.cancel();
    const { threadId, runId } = this.run.input;
    return { type: 'RUN_FINISHED', threadId, runId, ...(this.isOfOne ? { outcome: { type: 'cancelled' as const } } : {}) };
  }

  /** Clients before AG-UI 1.0 send no version. */
  private get isOfOne(): boolean {
    return this.run.input.protocolVersion !== undefined;
  }

  private async *whole(event: AguiEvent | SnapshotHere): AsyncGenerator<AguiEvent, void, void> {
    if (event.type !== 'snapshot-here') return yield event;
    const messages = await this.messagesTo(this.offset);
    const open = event.open.filter(({ id }) => !messages.some((message) => message.id === id));
    yield { type: 'MESSAGES_SNAPSHOT', messages: [...messages, ...open] };
  }

  private *closed(how: 'success' | 'suspended'): Generator<AguiEvent, void, void> {
    for (const step of this.projection.end()) for (const event of this.frames.take(step)) if (event.type !== 'snapshot-here') yield event;
    yield* this.frames.end(how);
  }

  private async reaches(isIt: (event: RunEvent) => boolean): Promise<boolean> {
    const { thread, signal } = this.run;
    for await (const event of thread.events({ from: this.offset, until: 'end', signal })) {
      if (event.offset === undefined) continue;
      this.offset = event.offset + 1;
      if (isIt(event)) return true;
    }
    return false;
  }

  private async messagesTo(offset: number): Promise<readonly AguiMessage[]> {
    const log = await logBetween(this.run.thread, 0, offset, this.run.signal);
    return withIdsOf(this.run.input.messages, historyOf(log).messages);
  }
}
