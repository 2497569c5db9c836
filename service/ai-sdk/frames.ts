import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { RunEvent } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { canonicalJson } from '../../contract/messages/messages';
import type { Json, StoredMessage } from '../../contract/messages/messages';
import { isInside, isShown } from '../../contract/record/agent-paths';
import { askedCall } from '../projection/asked-call';
import { textOfJson, urlOf } from '../projection/content';
import type { ShownStep } from '../projection/steps';
import type { UiPart } from './parts';

interface ShownCall {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly path: string;
  readonly message: string;
  text: string;
  /** Undefined: incomplete. */
  input: Json | undefined;
  approval?: string;
  isDecided?: boolean;
  isRejected?: boolean;
  /** Undefined: not begun. */
  address?: string;
  isDone?: boolean;
}

const hiddenAgent = /[@!]\d+$/;

export class UiFrames {
  private readonly calls = new Map<string, ShownCall>();
  private readonly inStep = new Set<string>();
  private readonly openTexts = new Set<string>();
  private readonly waiting = new Map<string, readonly string[]>();
  private isStepOpen = false;
  /** A page changes no arguments of calls in earlier steps. */
  private readonly changeable = new Set<string>();

  *take(step: ShownStep): Generator<UiPart, void, void> {
    if (step.step === 'event') return yield* this.event(step.event);
    if (!isShown(step.runPath)) return;
    const path = step.runPath.join('/');
    switch (step.step) {
      case 'text-start':
      case 'reasoning-start': {
        yield* this.stepOf(step.id);
        const id = idOf(step);
        this.openTexts.add(id);
        return yield { type: step.step, id, providerMetadata: { holdfast: { message: step.id } } };
      }
      case 'text':
      case 'reasoning':
        return yield { type: `${step.step}-delta`, id: idOf(step), delta: step.text };
      case 'text-end':
      case 'reasoning-end': {
        const id = idOf(step);
        this.openTexts.delete(id);
        return yield { type: step.step, id };
      }
      case 'call-start':
        return yield* this.callBegins(step.id, step.callId, step.tool, path);
      case 'call-input': {
        const call = this.call(step.callId, path);
        if (call === undefined) return;
        call.text += step.text;
        return yield { type: 'tool-input-delta', toolCallId: call.id, inputTextDelta: step.text };
      }
      case 'call-end': {
        const call = this.call(step.callId, path);
        const input = call === undefined ? undefined : parsed(call.text);
        if (call === undefined || input === undefined) return;
        return yield* this.inputOf(call, input);
      }
      case 'void':
        return yield* this.void(step.id);
      case 'message':
        return yield* filesOf(step.message);
      case 'result':
        return yield* this.result(step.callId, path, step.message);
      case 'progress':
        return yield {
          type: 'data-holdfast-progress',
          id: this.call(step.callId, path)?.id ?? step.callId,
          data: { tool: step.tool, callId: step.callId, data: step.data },
        };
      case 'output': {
        const call = this.call(step.callId, path);
        if (call !== undefined) yield { type: 'tool-output-available', toolCallId: call.id, output: step.all, preliminary: true };
        return;
      }
      default:
        return step satisfies never;
    }
  }

  /** A page posts its decisions only after all calls of the step have an outcome. */
  get isAtWork(): boolean {
    if (this.openTexts.size > 0) return true;
    const asking = [...this.waiting.values()];
    // The page has no call for a question of an agent inside a call.
    if (asking.some((address) => address.some((segment) => hiddenAgent.test(segment)))) return false;
    return [...this.calls.values()].some(
      ({ isDone, address }) => isDone !== true && address !== undefined && !asking.some((at) => isInside(at, address)),
    );
  }

  /** The reader keeps the parts of an earlier stream. */
  goOn(): void {
    this.changeable.clear();
  }

  /** After a last step whose calls all have an outcome a page would post again by itself, so an empty step follows. */
  *endAll(): Generator<UiPart, void, void> {
    const calls = [...this.calls.values()].filter(({ message }) => this.inStep.has(message));
    if (calls.length > 0 && calls.every(({ isDone, isDecided }) => isDone === true || isDecided === true)) {
      yield* this.endStep();
      this.isStepOpen = true;
      yield { type: 'start-step' };
    }
    yield* this.endStep();
  }

  *endStep(): Generator<UiPart, void, void> {
    if (!this.isStepOpen) return;
    this.isStepOpen = false;
    this.inStep.clear();
    this.changeable.clear();
    yield { type: 'finish-step' };
  }

  /** A step is a model's message with the results of its calls, or messages of agents at the same time. */
  private *stepOf(message: string): Generator<UiPart, void, void> {
    if (this.inStep.has(message)) return;
    if (this.inStep.size > 0 && this.openTexts.size === 0 && this.isSettled) yield* this.endStep();
    this.inStep.add(message);
    if (this.isStepOpen) return;
    this.isStepOpen = true;
    yield { type: 'start-step' };
  }

  private *callBegins(message: string, callId: string, tool: string, path: string): Generator<UiPart, void, void> {
    yield* this.stepOf(message);
    const id = this.freeId(callId);
    this.calls.set(id, { id, callId, tool, path, message, text: '', input: undefined });
    yield { type: 'tool-input-start', toolCallId: id, toolName: tool };
  }

  private get isSettled(): boolean {
    return [...this.calls.values()].every(({ isDone }) => isDone === true);
  }

  private *inputOf(call: ShownCall, input: Json): Generator<UiPart, void, void> {
    if (call.input !== undefined && canonicalJson(call.input) === canonicalJson(input)) return;
    const { id, tool, input: before } = call;
    call.input = input;
    if (before === undefined) this.changeable.add(id);
    if (this.changeable.has(id)) yield { type: 'tool-input-available', toolCallId: id, toolName: tool, input };
    else yield { type: 'data-holdfast-input', id, data: { callId: id, tool, input } };
  }

  /** AI SDK cannot take back a text, but a page may leave out the named message. */
  private *void(message: string): Generator<UiPart, void, void> {
    yield { type: 'data-holdfast-void', id: message, data: { id: message } };
    for (const call of [...this.calls.values()].filter((one) => one.message === message)) {
      this.calls.delete(call.id);
      yield { type: 'tool-output-error', toolCallId: call.id, errorText: 'This call was not made: the model was asked again.' };
    }
  }

  private *result(callId: string, path: string, message: StoredMessage): Generator<UiPart, void, void> {
    const call = this.call(callId, path);
    const part = message.parts.find(({ type }) => type === 'tool-result');
    if (call === undefined || part?.type !== 'tool-result') return;
    call.isDone = true;
    if (call.isRejected === true) yield { type: 'tool-output-denied', toolCallId: call.id };
    else if (part.isError === true) yield { type: 'tool-output-error', toolCallId: call.id, errorText: textOfJson(part.output) };
    else yield { type: 'tool-output-available', toolCallId: call.id, output: part.output };
  }

  private *event(event: RunEvent): Generator<UiPart, void, void> {
    switch (event.type) {
      case 'tool-start': {
        // People and middleware may have changed the arguments, and calls of the input have no message.
        if (!isShown(event.runPath) || event.again !== undefined) return;
        const path = event.runPath.join('/');
        const known = this.call(event.callId, path);
        const begun = event.external === true ? {} : { address: event.address };
        if (known !== undefined) {
          Object.assign(known, begun);
          return yield* this.inputOf(known, event.input);
        }
        yield* this.stepOf(event.address);
        const { callId } = event;
        const id = this.freeId(callId);
        const call: ShownCall = { id, callId, tool: event.tool, path, message: event.address, text: '', input: undefined, ...begun };
        this.calls.set(id, call);
        return yield* this.inputOf(call, event.input);
      }
      case 'interrupt-start':
        return yield* this.asked(event.interrupt);
      case 'interrupt-end': {
        const { interruptId, reason, answer, by } = event;
        this.waiting.delete(interruptId);
        const call = [...this.calls.values()].find(({ approval }) => approval === interruptId);
        if (call !== undefined) Object.assign(call, { isDecided: true, isRejected: isRecord(answer) && answer['type'] === 'reject' });
        return yield {
          type: 'data-holdfast-interrupt',
          id: interruptId,
          data: { id: interruptId, ended: reason, answer, ...defined({ by }) },
        };
      }
      case 'agent-end':
        for (const call of this.calls.values()) if (call.path === event.runPath.join('/')) call.isDone = true;
        return;
      case 'custom':
        return yield { type: `data-${event.name}`, data: event.data };
      default:
        return;
    }
  }

  /** An approval of a shown call is also a part of the call. */
  private *asked(interrupt: Interrupt): Generator<UiPart, void, void> {
    this.waiting.set(interrupt.id, interrupt.address);
    yield { type: 'data-holdfast-interrupt', id: interrupt.id, data: interrupt as unknown as Json };
    if (interrupt.kind !== 'approval') return;
    const call = askedCall(
      [...this.calls.values()].filter(({ isDone }) => isDone !== true),
      interrupt,
    );
    if (call === undefined) return;
    Object.assign(call, { approval: interrupt.id, isDecided: false });
    yield* this.inputOf(call, interrupt.input);
    yield { type: 'tool-approval-request', approvalId: interrupt.id, toolCallId: call.id };
  }

  private call(callId: string, path: string): ShownCall | undefined {
    return [...this.calls.values()].filter((call) => call.callId === callId && call.path === path).at(-1);
  }

  private freeId(callId: string): string {
    let id = callId;
    for (let nth = 2; this.calls.has(id); nth++) id = `${callId}~${nth}`;
    return id;
  }
}

function idOf({ step, id }: { readonly step: string; readonly id: string }): string {
  return step.startsWith('reasoning') ? `${id}.reasoning` : id;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function* filesOf({ parts }: StoredMessage): Generator<UiPart, void, void> {
  for (const part of parts) if (part.type === 'file') yield { type: 'file', url: urlOf(part), mediaType: part.mediaType };
}
