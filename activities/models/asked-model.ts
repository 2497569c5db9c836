export interface AskedModel {
  readonly id: string;
  readonly keyVariable?: string;
  /** False if the provider works without a key and has none. */
  readonly hasKey: boolean;
}

const asked = new WeakMap<object, AskedModel>();

/** Remembers an error's model without changing the error, which worker middleware must see unchanged. */
export function noteAskedModel(error: unknown, model: AskedModel): void {
  if (typeof error === 'object' && error !== null && !asked.has(error)) asked.set(error, model);
}

export function askedModelOf(error: object): AskedModel | undefined {
  return asked.get(error);
}

export function keyRefusedText({ id, keyVariable, hasKey }: AskedModel, reason: string): string {
  if (keyVariable === undefined) return `${id} refused the call: ${reason}`;
  return hasKey ? `${id} refused the key in ${keyVariable}: ${reason}` : `${id} asks for a key, and ${keyVariable} is not set: ${reason}`;
}
