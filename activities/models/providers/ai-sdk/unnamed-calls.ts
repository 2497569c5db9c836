import type { Part } from '../../../../contract/messages/messages';
import { inputOf } from './answer';
import { isRecord } from '../../../../contract/check';

interface BegunCall {
  id: string | undefined;
  named: boolean;
  text: string;
}

/** Clients of the chat format silently drop calls without a name; raw chunks keep the calls, so the run can refuse each call by id. */
export class UnnamedCalls {
  private readonly begun = new Map<unknown, BegunCall>();
  private last: unknown;

  /** Other formats have no `choices`. */
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
