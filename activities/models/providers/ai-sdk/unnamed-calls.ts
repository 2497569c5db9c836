import type { Part } from '../../../../contract/messages/messages';
import { inputOf } from './answer';
import { isRecord } from '../../../../contract/check';

interface BegunCall {
  id: string | undefined;
  named: boolean;
  text: string;
}

/**
 * Clients of the chat format leave a call without a name out of a stream, and say nothing. They stand in the raw chunks alone: here they become
 * calls with an empty name, which the run refuses by their ids.
 */
export class UnnamedCalls {
  private readonly begun = new Map<unknown, BegunCall>();
  private last: unknown;

  /** A chunk as the provider sent it. Those of other formats have no such list. */
  see(raw: unknown): void {
    const choices = isRecord(raw) && Array.isArray(raw['choices']) ? (raw['choices'] as readonly unknown[]) : [];
    for (const choice of choices) {
      const delta = isRecord(choice) ? choice['delta'] : undefined;
      const calls = isRecord(delta) && Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as readonly unknown[]) : [];
      for (const call of calls) if (isRecord(call)) this.add(call);
    }
  }

  parts(): readonly Part[] {
    return [...this.begun.values()]
      .filter(({ named }) => !named)
      .map(({ id, text }, position) => ({ type: 'tool-call', id: id ?? `unnamed_${position}`, name: '', input: inputOf(text) }));
  }

  private add({ index, id, function: called }: Readonly<Record<string, unknown>>): void {
    const key = index ?? id ?? this.last ?? 0;
    this.last = key;
    const call = this.begun.get(key) ?? { id: undefined, named: false, text: '' };
    this.begun.set(key, call);
    if (typeof id === 'string' && id !== '') call.id ??= id;
    if (!isRecord(called)) return;
    const { name, arguments: text } = called;
    if (typeof name === 'string' && name.trim() !== '') call.named = true;
    if (typeof text === 'string') call.text += text;
  }
}
