import type { ReadableStream } from 'node:stream/web';
import { HoldfastError } from '../../../../contract/errors';
import type { JsonObject } from '../../../../contract/messages/messages';

const versions = ['v3', 'v4'] as const;
export type SpecificationVersion = (typeof versions)[number];

export type Item = Readonly<Record<string, unknown>>;

interface SpecifiedModel {
  readonly specificationVersion: SpecificationVersion;
  doGenerate(
    options: Record<string, unknown>,
  ): PromiseLike<{ readonly content: readonly Item[]; readonly finishReason?: unknown; readonly usage?: Item }>;
}

export interface StreamingModel extends SpecifiedModel {
  doStream(options: Record<string, unknown>): PromiseLike<{ readonly stream: ReadableStream<Item> }>;
}

export interface AiSdkOptions {
  /** Options of the provider for every call; an agent's options win. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** The provider takes files only from the user: files of a tool's result follow in a user message. */
  readonly filesOnlyFromUser?: boolean;
  /** The provider's name for `strictJsonSchema`, set for schemas that the provider can enforce. */
  readonly strictOption?: string;
  /** The provider's name for `deferLoading` and for lists of found tools. Absent: all tools at once. */
  readonly deferOption?: string;
  /** Texts that no error may contain, such as the key. */
  readonly secrets?: readonly string[];
}

export function specifiedModel(model: object): SpecifiedModel {
  const { specificationVersion, doGenerate } = model as { readonly specificationVersion?: unknown; readonly doGenerate?: unknown };
  if (typeof doGenerate !== 'function' || !versions.includes(specificationVersion as SpecificationVersion)) {
    throw new HoldfastError(
      'config-invalid',
      `aiSdkModel takes an AI SDK language model of specification ${versions.join(' or ')}. This one has ${String(specificationVersion)}: install a version of its package that AI SDK 6 or newer takes.`,
    );
  }
  return model as SpecifiedModel;
}

export function canStream(model: SpecifiedModel): model is StreamingModel {
  return typeof (model as Partial<StreamingModel>).doStream === 'function';
}
