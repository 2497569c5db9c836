import type { Delta } from '../../contract/deltas';
import { isDelta } from '../../contract/deltas';
import type { RunEvent, RunView } from '../../contract/events';
import type { Failure, FinishReason, Usage } from '../../contract/messages/messages';
import { addUsage, noUsage } from '../../contract/usage';
import { hashOf } from '../projection/content';
import { Projection } from '../projection/projection';
import { FrameNumbers } from './frame-numbers';
import type { ResponseNote } from './note';
import { noteIn } from './note';
import { ResponseOutput } from './output';
import type { ResponseRef } from './response-id';
import { beforeAnswers, offsetOf, responseIdOf } from './response-id';
import type { ResponseEvent, ResponseObject, ResponseUsage, UnnumberedEvent } from './types';

export interface ResponseFacts extends ResponseNote {
  /** In Unix seconds. */
  readonly createdAt?: number;
}

interface ResponseEnd {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'incomplete';
  readonly error?: Failure;
  readonly reason?: IncompleteReason;
}

type IncompleteReason = NonNullable<ResponseObject['incomplete_details']>['reason'];

const finishReasons: Partial<Record<FinishReason, IncompleteReason>> = { length: 'max_output_tokens', 'content-filter': 'content_filter' };

/** A response: the log from a message or from answers to the turn's end or an interrupt. */
export class ResponseSegment {
  private readonly projection = new Projection();
  private readonly output: ResponseOutput;
  private readonly numbers: FrameNumbers;
  private readonly id: string;
  private readonly answered = new Map<number, string | undefined>();
  private readonly unanswered = new Set<number>();
  private isSaid = false;
  private begunAt: number | undefined;
  private usage: Usage = noUsage;
  private finish: FinishReason | undefined;
  private end: ResponseEnd | undefined;

  constructor(
    private readonly ref: ResponseRef,
    private readonly model: string,
    private facts: ResponseFacts = {},
    after?: number,
  ) {
    this.id = responseIdOf(ref);
    this.output = new ResponseOutput(hashOf(this.id, 16));
    this.numbers = new FrameNumbers(after);
    for (const offset of ref.answers.at(-1) ?? []) {
      this.answered.set(offset, undefined);
      this.unanswered.add(offset);
    }
    this.numbers.at(offsetOf(ref));
  }

  get isOver(): boolean {
    return this.end !== undefined;
  }

  get isKnown(): boolean {
    return this.isSaid && [...this.answered.values()].every((interrupt) => interrupt !== undefined);
  }

  get hasBegun(): boolean {
    return this.begunAt !== undefined;
  }

  get response(): ResponseObject {
    const { id, model, facts, end } = this;
    const previous = beforeAnswers(this.ref);
    return {
      id,
      object: 'response',
      created_at: this.begunAt === undefined ? (facts.createdAt ?? secondsOf(Date.now())) : secondsOf(this.begunAt),
      status: end?.status ?? (this.hasBegun ? 'in_progress' : 'queued'),
      background: true,
      error: end?.error ?? null,
      incomplete_details: end?.reason === undefined ? null : { reason: end.reason },
      instructions: null,
      metadata: facts.metadata ?? {},
      model,
      output: this.output.all,
      parallel_tool_calls: true,
      previous_response_id: previous === undefined ? (facts.previous ?? null) : responseIdOf(previous),
      store: true,
      temperature: null,
      tool_choice: 'auto',
      tools: [],
      top_p: null,
      usage: end === undefined ? null : usageOf(this.usage),
    };
  }

  /** Clients need `response.created` first. */
  created(): Generator<ResponseEvent, void, void> {
    return this.numbered([{ type: 'response.created', response: this.response }]);
  }

  *take(event: RunEvent | Delta): Generator<ResponseEvent, void, void> {
    if (this.end !== undefined) return;
    if (isDelta(event)) return yield* this.show(event);
    this.numbers.at(event.offset);
    if (event.type === 'message-withdrawn' && event.id === this.ref.message) return yield* this.over({ status: 'cancelled' });
    if (event.type === 'message' && event.id === this.ref.message) {
      this.isSaid = true;
      this.facts = noteIn(event.message);
      if (this.answered.size === 0) yield* this.begin(event);
    }
    if (!this.isSaid) return;
    if (event.type === 'interrupt-start' && this.answered.has(event.offset)) this.answered.set(event.offset, event.interrupt.id);
    if (event.type === 'interrupt-end') {
      const own = [...this.answered].find(([, interrupt]) => interrupt === event.interruptId);
      if (own !== undefined && !this.hasBegun) yield* this.begin(event);
      if (own !== undefined) this.unanswered.delete(own[0]);
      else if (this.hasBegun && this.unanswered.size === 0 && event.reason === 'answer') return yield* this.over({ status: 'completed' });
    }
    if (this.hasBegun) this.count(event);
    yield* this.show(event);
    // The next deltas have numbers after this event.
    this.numbers.at(event.offset + 1);
  }

  /** The run does not continue by itself. `problem`: why the response cannot begin. */
  *stand(view: RunView | undefined): Generator<ResponseEvent, { readonly problem: Failure } | undefined, void> {
    if (this.end !== undefined) return undefined;
    if (view?.status === 'stuck' || view?.status === 'failed')
      yield* this.over({ status: 'failed', error: view.error ?? { code: 'run-failed', message: 'The run has failed.' } });
    else if (view?.status === 'waiting' && !this.hasBegun)
      return { problem: { code: 'interrupts-open', message: 'The message waits for its turn: the one before waits for somebody.' } };
    else if (view?.status === 'idle' && !this.hasBegun) return undefined;
    else yield* this.over({ status: view?.status === 'waiting' ? 'completed' : 'cancelled' });
    return undefined;
  }

  *problem({ code, message }: Failure): Generator<ResponseEvent, void, void> {
    yield this.numbers.beside({ type: 'error', code, message, param: null });
  }

  private *begin({ time }: RunEvent): Generator<ResponseEvent, void, void> {
    this.begunAt = time;
    yield* this.numbered([{ type: 'response.in_progress', response: this.response }]);
  }

  private *show(event: RunEvent | Delta): Generator<ResponseEvent, void, void> {
    if (!this.isSaid) return;
    for (const step of this.projection.take(event)) {
      if (this.hasBegun) yield* this.numbered(this.output.take(step));
      else this.output.note(step);
      if (step.step !== 'event') continue;
      if (this.hasBegun && step.event.type === 'turn-end') yield* this.numbered(this.output.endWith(step.event.output));
      const end = this.endIn(step.event);
      if (end !== undefined) return yield* this.over(end);
    }
  }

  private endIn(event: RunEvent): ResponseEnd | undefined {
    if (!this.hasBegun) return undefined;
    if (event.type === 'run-end' && event.status === 'failed')
      return { status: 'failed', error: event.error ?? { code: 'run-failed', message: 'The run has failed.' } };
    if (event.type === 'run-end') return { status: 'cancelled' };
    if (event.type !== 'turn-end') return undefined;
    if (event.status === 'failed')
      return { status: 'failed', error: event.error ?? { code: 'run-failed', message: 'The turn has failed.' } };
    if (event.status === 'stopped') return { status: 'cancelled' };
    const reason = finishReasons[this.finish ?? 'stop'];
    return reason === undefined ? { status: 'completed' } : { status: 'incomplete', reason };
  }

  private *over(end: ResponseEnd): Generator<ResponseEvent, void, void> {
    for (const step of this.projection.end()) if (this.hasBegun) yield* this.numbered(this.output.take(step));
    if (this.hasBegun) yield* this.numbered(this.output.close());
    this.end = end;
    const type = end.status === 'cancelled' ? 'incomplete' : end.status;
    yield* this.numbered([{ type: `response.${type}`, response: this.response }]);
  }

  private count(event: RunEvent): void {
    if (event.type !== 'model-end' && event.type !== 'agent-end') return;
    if (event.usage !== undefined) this.usage = addUsage(this.usage, event.usage);
    if (event.type === 'model-end') this.finish = event.finish;
  }

  private *numbered(events: Iterable<UnnumberedEvent>): Generator<ResponseEvent, void, void> {
    for (const event of events) {
      const numbered = this.numbers.number(event);
      if (numbered !== undefined) yield numbered;
    }
  }
}

function secondsOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 }: Usage): ResponseUsage {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
