import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';

/** Without `before` the place is new, without `after` the place is gone. */
export interface ValueChange {
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

export function changesOf(before: Json | undefined, after: Json | undefined, path = ''): readonly ValueChange[] {
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return [];
  const both = [before, after];
  const areObjects = both.every((value) => isRecord(value));
  const areLists = both.every((value) => Array.isArray(value));
  if (!areObjects && !areLists) return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
  const [old, changed] = both as unknown as readonly [Readonly<Record<string, Json>>, Readonly<Record<string, Json>>];
  const names = [...new Set([...Object.keys(old), ...Object.keys(changed)])];
  return names.flatMap((name) => {
    const shown = areLists ? String(Number(name) + 1) : name;
    return changesOf(own(old, name), own(changed, name), path === '' ? shown : `${path}.${shown}`);
  });
}

function own(value: Readonly<Record<string, Json>>, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
