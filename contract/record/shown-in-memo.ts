import type { WireEvent } from '../events';
import type { Interrupt } from '../interrupts';
import { isInterrupt } from '../interrupts';
import { interruptMemoPrefix, names } from '../names';

type MemoValues = Readonly<Record<string, unknown>>;

export function interruptsInMemo(values: MemoValues): {
  readonly shown: readonly (readonly [string, Interrupt])[];
  readonly ended: readonly string[];
} {
  const ids = Object.keys(values).flatMap((key) => (key.startsWith(interruptMemoPrefix) ? key.slice(interruptMemoPrefix.length) : []));
  const valueOf = (id: string): unknown => values[interruptMemoPrefix + id];
  // Memo fields have no order on the wire, but events do.
  const begun = eventsInMemo(values).flatMap(({ type, interrupt }) => (type === 'interrupt-start' ? [interrupt as string] : []));
  const shown = [...new Set([...begun, ...ids])].flatMap((id) => {
    const value = valueOf(id);
    return isInterrupt(value) ? [[id, value] as const] : [];
  });
  return { shown, ended: ids.filter((id) => (valueOf(id) ?? null) === null) };
}

function eventsInMemo(values: MemoValues): readonly { readonly type: string; readonly interrupt?: unknown }[] {
  return (values[names.memo.events] as readonly WireEvent[] | undefined) ?? [];
}
