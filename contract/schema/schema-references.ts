import type { Json } from '../messages/messages';
import type { SchemaObject } from './schema-parts';
import { isRecord } from './schema-parts';

export interface Referred {
  readonly schema: Json;
  readonly base: Json;
}

export class References {
  private readonly named = new Map<Json, readonly SchemaObject[]>();
  private readonly known = new Map<Json, Map<string, Referred | undefined>>();

  constructor(private readonly root: Json) {}

  find(reference: string, base: Json): Referred | undefined {
    const known = this.known.get(base) ?? new Map<string, Referred | undefined>();
    this.known.set(base, known);
    if (!known.has(reference)) known.set(reference, this.found(reference, base));
    return known.get(reference);
  }

  private found(reference: string, base: Json): Referred | undefined {
    const [document = '', fragment = ''] = reference.split('#');
    // Below an `$id` a pointer begins there, except in drafts that ignore keywords beside `$ref`.
    const documents = document === '' ? [base, this.root] : this.withNames(this.root).filter(({ $id }) => isSameId($id, document));
    for (const one of documents) {
      const schema = fragment === '' ? one : fragment.startsWith('/') ? placeOf(one, fragment) : this.anchored(one, fragment);
      if (schema !== undefined) return { schema, base: one };
    }
    return undefined;
  }

  private anchored(base: Json, anchor: string): Json | undefined {
    const id = `#${anchor}`;
    return this.withNames(base).find(
      (part) => part['$anchor'] === anchor || part['$dynamicAnchor'] === anchor || part['$id'] === id || part['id'] === id,
    );
  }

  private withNames(base: Json): readonly SchemaObject[] {
    const known = this.named.get(base);
    if (known !== undefined) return known;
    const found: SchemaObject[] = [];
    const seen = new Set<Json>([base]);
    for (const value of seen) {
      if (isRecord(value) && ['$id', '$anchor', '$dynamicAnchor', 'id'].some((key) => typeof value[key] === 'string')) found.push(value);
      for (const inner of Object.values(value as object) as Json[]) if (typeof inner === 'object' && inner !== null) seen.add(inner);
    }
    this.named.set(base, found);
    return found;
  }
}

export function baseOf(part: SchemaObject, around: Json): Json {
  const { $id } = part;
  return typeof $id === 'string' && !$id.startsWith('#') ? part : around;
}

/** An `$id` and a reference may be relative. */
function isSameId($id: Json | undefined, document: string): boolean {
  if (typeof $id !== 'string' || $id === '') return false;
  const id = $id.replace(/#$/, '');
  return id === document || id.endsWith(`/${document}`) || document.endsWith(`/${id}`);
}

function placeOf(base: Json, pointer: string): Json | undefined {
  let found: Json | undefined = base;
  for (const segment of pointer.split('/').slice(1)) {
    const keys = [segment, decoded(segment)].map((text) => text.replace(/~1/g, '/').replace(/~0/g, '~'));
    const holder: object = typeof found === 'object' && found !== null ? found : {};
    const key = keys.find((one) => Object.hasOwn(holder, one));
    found = key === undefined ? undefined : (holder as SchemaObject)[key];
  }
  return found;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
