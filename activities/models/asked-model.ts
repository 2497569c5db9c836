/** Which model a call went to, and where its key is from. Never the key. */
export interface AskedModel {
  /** provider/model. */
  readonly id: string;
  /** The environment variable of the key, when the provider names one. */
  readonly keyVariable?: string;
  /** False when the provider works without a key and none is set. */
  readonly hasKey: boolean;
}

const asked = new WeakMap<object, AskedModel>();

/** Keeps with an error which model it came from. The error itself stays as its client made it: worker middleware look at it. */
export function noteAskedModel(error: unknown, model: AskedModel): void {
  if (typeof error === 'object' && error !== null && !asked.has(error)) asked.set(error, model);
}

export function askedModelOf(error: object): AskedModel | undefined {
  return asked.get(error);
}

/** What a model says of a key that its provider refused. */
export function keyRefusedText({ id, keyVariable, hasKey }: AskedModel, reason: string): string {
  if (keyVariable === undefined) return `${id} refused the call: ${reason}`;
  return hasKey ? `${id} refused the key in ${keyVariable}: ${reason}` : `${id} asks for a key, and ${keyVariable} is not set: ${reason}`;
}
