import { signal } from '@preact/signals';
import type { Delta } from '../../contract/deltas';
import { codeOf } from '../../contract/errors';
import { isEnded } from '../../contract/events';
import type { RunEvent } from '../../contract/events';
import type { Json } from '../../contract/messages/messages';
import type { ShownRun } from '../../client/http/index';
import { isDelta } from '../../contract/deltas';
import { followLog } from './follow-log';
import { service } from './service';

/** The event at the end of the call replaces the output. */
export interface SayingCall {
  readonly address: string;
  readonly agent: string;
  text: string;
  reasoning: string;
  readonly inputs: Map<string, { readonly tool: string; text: string }>;
  output: string;
  progress?: Json;
}

const viewPauseMs = 600;
const idleViewMs = 15_000;
const catchingUpMs = 250;

/** Continues at its offset after a break, and draws at most once a frame. */
export class RunFeed {
  readonly events: RunEvent[] = [];
  readonly live = new Map<string, SayingCall>();
  readonly drawn = signal(0);
  readonly liveDrawn = signal(0);
  readonly view = signal<ShownRun | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  /** All events up to the opening of the page are read. */
  readonly isRead = signal(false);
  private readonly stop = new AbortController();
  private next = 0;
  private isReading = false;
  private frame: number | undefined;
  private seldom: ReturnType<typeof setTimeout> | undefined;
  private hasEvents = false;
  private viewTimer: ReturnType<typeof setTimeout> | undefined;
  private lastView = 0;
  private isAsking = false;
  private asksAgain = false;

  constructor(readonly id: string) {}

  open(): void {
    void this.refresh();
    void this.read();
  }

  close(): void {
    this.stop.abort();
    clearTimeout(this.viewTimer);
    clearTimeout(this.seldom);
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
  }

  /** Reads the log again when the run continues after an end. */
  async refresh(): Promise<void> {
    this.asksAgain = this.isAsking;
    if (this.isAsking) return;
    clearTimeout(this.viewTimer);
    this.lastView = Date.now();
    this.isAsking = true;
    try {
      const view = await service.view(this.id);
      if (this.stop.signal.aborted) return;
      this.view.value = view;
      this.error.value = undefined;
      if (!this.isReading && view.nextOffset > this.next) void this.read();
      this.planView(isEnded(view.status) ? 4 * idleViewMs : idleViewMs);
      // Drawing comes last, because drawing may plan an earlier look.
      if (this.hasEvents && this.hasCaughtUp()) this.draw();
      else if (this.hasCaughtUp()) this.isRead.value = true;
    } catch (error) {
      if (this.stop.signal.aborted) return;
      if (this.view.peek() === undefined) this.error.value = error;
      if (codeOf(error) !== 'run-unknown' && codeOf(error) !== 'run-id-invalid') this.planView(2_000);
    } finally {
      this.isAsking = false;
    }
    if (this.asksAgain) await this.refresh();
  }

  private planView(ms: number): void {
    if (this.stop.signal.aborted) return;
    clearTimeout(this.viewTimer);
    this.viewTimer = setTimeout(
      () => {
        if (document.visibilityState === 'visible') void this.refresh();
        else this.planView(ms);
      },
      Math.max(ms, viewPauseMs - (Date.now() - this.lastView)),
    );
  }

  private async read(): Promise<void> {
    this.isReading = true;
    try {
      await followLog(this.id, {
        from: this.next,
        onEvent: (event) => this.take(event),
        onView: (view) => (this.view.value = view),
        onBreak: () => this.live.clear(),
        signal: this.stop.signal,
      });
    } catch (error) {
      this.error.value = error;
    }
    if (this.stop.signal.aborted) return;
    this.isReading = false;
    this.isRead.value = true;
    this.draw();
  }

  private take(event: RunEvent | Delta): void {
    if (isDelta(event)) this.hear(event);
    else {
      this.next = event.offset + 1;
      this.events.push(event);
      this.hasEvents = true;
      if ((event.type === 'model-end' || event.type === 'tool-end') && event.address !== undefined) this.live.delete(event.address);
      if (event.type === 'run-end') this.live.clear();
    }
    if (this.isRead.peek() || this.hasCaughtUp()) this.frame ??= requestAnimationFrame(() => this.draw());
    else this.seldom ??= setTimeout(() => this.draw(), catchingUpMs);
  }

  private hasCaughtUp(): boolean {
    const known = this.view.peek();
    return known !== undefined && this.next >= known.nextOffset;
  }

  private draw(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    clearTimeout(this.seldom);
    this.frame = undefined;
    this.seldom = undefined;
    this.liveDrawn.value++;
    if (!this.hasEvents) return;
    this.hasEvents = false;
    this.drawn.value++;
    const known = this.view.peek();
    if (this.hasCaughtUp()) this.isRead.value = true;
    if (known === undefined || this.next > known.nextOffset) this.planView(viewPauseMs);
  }

  private hear(delta: Delta): void {
    const { address, agent } = delta;
    if (delta.type === 'attempt-void') return void this.live.delete(address);
    let call = this.live.get(address);
    if (call === undefined || delta.type === 'attempt-start') {
      call = { address, agent, text: '', reasoning: '', inputs: new Map(), output: '' };
      this.live.set(address, call);
    }
    switch (delta.type) {
      case 'text-delta':
        call.text += delta.text;
        return;
      case 'reasoning-delta':
        call.reasoning += delta.text;
        return;
      case 'tool-input-start':
        call.inputs.set(delta.callId, { tool: delta.tool, text: '' });
        return;
      case 'tool-input-delta': {
        const input = call.inputs.get(delta.callId);
        if (input !== undefined) input.text += delta.text;
        return;
      }
      case 'tool-output-delta':
        call.output += delta.text ?? (delta.part?.type === 'text' ? delta.part.text : '');
        return;
      case 'tool-progress':
        call.progress = delta.data;
    }
  }
}
