import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { isShown } from '../../contract/record/agent-paths';
import { askedCall } from '../projection/asked-call';
import { resultOf, textOfJson } from '../projection/content';
import { externalCallIn } from '../../contract/external-calls';
import type { ShownStep } from '../projection/steps';
import { wordsOf } from './answers';
import { OutputItems } from './output-items';
import type { OutputEvent, ResponseItem } from './types';

interface KnownCall {
  readonly callId: string;
  readonly path: string;
  readonly tool: string;
  readonly message: string;
  input: string;
  isDone?: boolean;
  approval?: string;
  isExternal?: boolean;
}

/** Steps before the response's beginning count only for calls and open interrupts. */
export class ResponseOutput {
  private readonly items: OutputItems;
  private readonly calls: KnownCall[] = [];
  private readonly waiting = new Map<string, Interrupt>();
  private readonly asked = new Set<string>();
  private readonly external = new Map<string, string>();

  /** `salt` makes item ids unique among responses. */
  constructor(salt: string) {
    this.items = new OutputItems(salt);
  }

  get all(): readonly ResponseItem[] {
    return this.items.all;
  }

  note(step: ShownStep): void {
    if (step.step === 'event') return this.noteEvent(step.event);
    const path = step.runPath.join('/');
    if (step.step === 'call-start') this.calls.push({ callId: step.callId, path, tool: step.tool, message: step.id, input: '' });
    const call = step.step === 'call-input' ? this.call(step.callId, path) : undefined;
    if (call !== undefined && step.step === 'call-input') call.input += step.text;
    if (step.step === 'result') {
      const ended = this.call(step.callId, path);
      if (ended !== undefined) ended.isDone = true;
    }
    if (step.step === 'void')
      for (const one of this.calls.filter(({ message }) => message === step.id)) this.calls.splice(this.calls.indexOf(one), 1);
  }

  *take(step: ShownStep): Generator<OutputEvent, void, void> {
    this.note(step);
    if (step.step === 'event') return yield* this.event(step.event);
    if (!isShown(step.runPath)) return;
    const path = step.runPath.join('/');
    switch (step.step) {
      case 'text-start':
        return yield* this.items.beginText('message', step.id, path);
      case 'reasoning-start':
        return yield* this.items.beginText('reasoning', step.id, path);
      case 'text':
        return yield* this.items.say('message', step.id, step.text);
      case 'reasoning':
        return yield* this.items.say('reasoning', step.id, step.text);
      case 'void':
        return this.items.void(step.id);
      case 'message':
        return yield* this.items.endTexts(step.id);
      case 'result': {
        const call = this.call(step.callId, path);
        if (call?.isExternal === true) return;
        const { content, isError } = resultOf(step.message);
        yield* this.begin(step.callId, path, { tool: call?.tool ?? step.tool, input: call?.input ?? '{}' });
        return yield* this.items.endCall(`${path} ${step.callId}`, content, isError);
      }
      default:
        return;
    }
  }

  /** Asks all open interrupts again, because a client reads only the last response. */
  *close(): Generator<OutputEvent, void, void> {
    yield* this.items.close();
    for (const interrupt of this.waiting.values()) yield* this.ask(interrupt);
  }

  *endWith(output: Json | undefined): Generator<OutputEvent, void, void> {
    if (output === undefined || output === null || this.items.all.some(({ type }) => type === 'message')) return;
    yield* this.items.text('output', textOfJson(output));
  }

  private noteEvent(event: RunEvent): void {
    if (event.type === 'interrupt-end') this.waiting.delete(event.interruptId);
    if (event.type === 'tool-start') {
      const call = this.call(event.callId, event.runPath.join('/'));
      if (call !== undefined) call.input = JSON.stringify(event.input);
    }
    if (event.type !== 'interrupt-start') return;
    const { interrupt } = event;
    this.waiting.set(interrupt.id, interrupt);
    const external = externalCallIn(interrupt);
    const callId = interrupt.kind === 'approval' ? interrupt.callId : external?.callId;
    if (callId === undefined) return;
    const open = this.calls.filter(({ isDone }) => isDone !== true);
    const call = askedCall(open, { callId, address: interrupt.address });
    if (external !== undefined) {
      this.external.set(interrupt.id, call?.input ?? '{}');
      if (call !== undefined) call.isExternal = true;
    }
    // People decide about the parsed arguments.
    if (interrupt.kind === 'approval' && call !== undefined)
      Object.assign(call, { input: JSON.stringify(interrupt.input), approval: interrupt.id });
  }

  private *event(event: RunEvent): Generator<OutputEvent, void, void> {
    if (event.type === 'interrupt-start') return yield* this.ask(event.interrupt);
    if (event.type !== 'tool-start' || !isShown(event.runPath) || event.again !== undefined || event.external === true) return;
    const path = event.runPath.join('/');
    const tool = this.call(event.callId, path)?.tool ?? event.tool;
    yield* this.begin(event.callId, path, { tool, input: JSON.stringify(event.input) });
  }

  private begin(callId: string, path: string, { tool, input }: { readonly tool: string; readonly input: string }): Generator<OutputEvent> {
    return this.items.beginCall(`${path} ${callId}`, { name: tool, input, approval: this.call(callId, path)?.approval ?? null });
  }

  private *ask(interrupt: Interrupt): Generator<OutputEvent, void, void> {
    if (this.asked.has(interrupt.id)) return;
    this.asked.add(interrupt.id);
    const external = externalCallIn(interrupt);
    if (interrupt.kind === 'approval') yield* this.items.approval(interrupt.id, interrupt.tool, JSON.stringify(interrupt.input));
    else if (external === undefined) yield* this.items.text(`asked ${interrupt.id}`, wordsOf(interrupt));
    else yield* this.items.functionCall(external.tool, external.callId, this.external.get(interrupt.id) ?? '{}');
  }

  private call(callId: string, path: string): KnownCall | undefined {
    return this.calls.filter((call) => call.callId === callId && call.path === path).at(-1);
  }
}
