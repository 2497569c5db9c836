import type { ResponseOutputText } from 'openai/resources/responses/responses';
import type { OutputEvent, ResponseItem } from './types';
import { serverLabel } from './types';

type TextKind = 'message' | 'reasoning';

interface OpenText {
  readonly type: TextKind;
  readonly id: string;
  readonly index: number;
  readonly path: string;
  key: string;
  text: string;
  state: 'open' | 'void' | 'done';
}

interface OpenCall {
  readonly index: number;
  readonly item: Extract<ResponseItem, { type: 'mcp_call' }>;
}

/** The protocol takes no item back, so a void item waits for the next try. */
export class OutputItems {
  private readonly items: ResponseItem[] = [];
  private texts: readonly OpenText[] = [];
  private readonly calls = new Map<string, OpenCall>();

  constructor(private readonly salt: string) {}

  get all(): readonly ResponseItem[] {
    const hidden = new Set(this.texts.filter(({ state }) => state === 'void').map(({ index }) => index));
    return this.items.filter((_, index) => !hidden.has(index));
  }

  *beginText(type: TextKind, message: string, path: string): Generator<OutputEvent, void, void> {
    const key = `${type} ${message}`;
    if (this.texts.some((text) => text.key === key && text.state === 'open')) return;
    const given = this.texts.find((text) => text.state === 'void' && text.type === type && text.path === path);
    if (given !== undefined) {
      Object.assign(given, { key, state: 'open' });
      return;
    }
    const index = this.items.length;
    const id = this.idOf(type === 'message' ? 'msg' : 'rs');
    const text: OpenText = { type, id, index, path, key, text: '', state: 'open' };
    this.texts = [...this.texts, text];
    const at = { item_id: id, output_index: index };
    if (type === 'message') {
      yield* this.add({ id, type, role: 'assistant', status: 'in_progress', content: [] });
      yield { type: 'response.content_part.added', ...at, content_index: 0, part: outputText('') };
    } else {
      yield* this.add({ id, type, status: 'in_progress', summary: [] });
      yield { type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: { type: 'summary_text', text: '' } };
    }
    this.keep(text);
  }

  *say(type: TextKind, message: string, delta: string): Generator<OutputEvent, void, void> {
    const open = this.texts.find(({ key, state }) => key === `${type} ${message}` && state === 'open');
    if (open === undefined) return;
    open.text += delta;
    this.keep(open);
    const at = { item_id: open.id, output_index: open.index };
    if (type === 'message') yield { type: 'response.output_text.delta', ...at, content_index: 0, delta, logprobs: [] };
    else yield { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta };
  }

  void(message: string): void {
    for (const text of this.openOf(message)) Object.assign(text, { state: 'void', text: '' });
  }

  *endTexts(message: string): Generator<OutputEvent, void, void> {
    for (const text of this.openOf(message)) yield* this.endText(text, 'completed');
  }

  *text(key: string, text: string): Generator<OutputEvent, void, void> {
    yield* this.beginText('message', key, key);
    yield* this.say('message', key, text);
    yield* this.endTexts(key);
  }

  *beginCall(
    key: string,
    { name, input, approval }: { readonly name: string; readonly input: string; readonly approval: string | null },
  ): Generator<OutputEvent, void, void> {
    if (this.calls.has(key)) return;
    const item = {
      id: this.idOf('mcp'),
      type: 'mcp_call' as const,
      server_label: serverLabel,
      name,
      arguments: input,
      output: null,
      error: null,
      approval_request_id: approval,
      status: 'in_progress' as const,
    };
    this.calls.set(key, { index: this.items.length, item });
    yield* this.add(item);
  }

  *endCall(key: string, content: string, isError: boolean): Generator<OutputEvent, void, void> {
    const call = this.calls.get(key);
    if (call === undefined) return;
    this.calls.delete(key);
    const came = isError ? { error: content, status: 'failed' as const } : { output: content, status: 'completed' as const };
    yield this.done(call.index, { ...call.item, ...came });
  }

  *approval(id: string, name: string, input: string): Generator<OutputEvent, void, void> {
    const item = { id, type: 'mcp_approval_request' as const, server_label: serverLabel, name, arguments: input };
    const index = this.items.length;
    yield* this.add(item);
    yield this.done(index, item);
  }

  *functionCall(name: string, callId: string, input: string): Generator<OutputEvent, void, void> {
    const index = this.items.length;
    const item = { id: this.idOf('fc'), type: 'function_call' as const, call_id: callId, name };
    const at = { item_id: item.id, output_index: index };
    yield* this.add({ ...item, arguments: '', status: 'in_progress' });
    yield { type: 'response.function_call_arguments.delta', ...at, delta: input };
    yield { type: 'response.function_call_arguments.done', ...at, name, arguments: input };
    yield this.done(index, { ...item, arguments: input, status: 'completed' });
  }

  *close(): Generator<OutputEvent, void, void> {
    for (const text of this.texts) {
      if (text.state === 'open') yield* this.endText(text, 'incomplete');
      else if (text.state === 'void') yield* this.endFrames(text, 'incomplete');
    }
    for (const [key, { index, item }] of this.calls) {
      this.calls.delete(key);
      yield this.done(index, { ...item, status: 'incomplete' });
    }
  }

  private openOf(message: string): readonly OpenText[] {
    const keys = [`reasoning ${message}`, `message ${message}`];
    return keys.flatMap((key) => this.texts.filter((text) => text.key === key && text.state === 'open'));
  }

  private *endText(text: OpenText, status: 'completed' | 'incomplete'): Generator<OutputEvent, void, void> {
    text.state = 'done';
    yield* this.endFrames(text, status);
  }

  private *endFrames(open: OpenText, status: 'completed' | 'incomplete'): Generator<OutputEvent, void, void> {
    const { type, id, index, text } = open;
    const at = { item_id: id, output_index: index };
    if (type === 'message') {
      yield { type: 'response.output_text.done', ...at, content_index: 0, text, logprobs: [] };
      yield { type: 'response.content_part.done', ...at, content_index: 0, part: outputText(text) };
    } else {
      yield { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text };
      yield { type: 'response.reasoning_summary_part.done', ...at, summary_index: 0, part: { type: 'summary_text', text } };
    }
    yield this.done(index, itemOf(open, status));
  }

  private keep(text: OpenText): void {
    this.items[text.index] = itemOf(text, 'in_progress');
  }

  private *add(item: ResponseItem): Generator<OutputEvent, void, void> {
    const output_index = this.items.push(item) - 1;
    yield { type: 'response.output_item.added', output_index, item };
  }

  private done(output_index: number, item: ResponseItem): OutputEvent {
    this.items[output_index] = item;
    return { type: 'response.output_item.done', output_index, item };
  }

  /** The same log gives the same ids. */
  private idOf(prefix: string): string {
    return `${prefix}_${this.salt}${this.items.length}`;
  }
}

function itemOf({ type, id, text }: OpenText, status: 'in_progress' | 'completed' | 'incomplete'): ResponseItem {
  if (type === 'message') return { id, type, role: 'assistant', status, content: [outputText(text)] };
  return { id, type, status, summary: [{ type: 'summary_text', text }] };
}

function outputText(text: string): ResponseOutputText {
  return { type: 'output_text', text, annotations: [] };
}
