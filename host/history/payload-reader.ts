import { defaultPayloadConverter, type LoadedDataConverter, type Payload } from '@temporalio/common';
import { HoldfastError, messageOf } from '../../contract/errors';
import { decompressed, isCompression } from '../payloads/compression';
import { isReference, retrieved } from '../payloads/references';

export class PayloadReader {
  /** No codec but Holdfast's. */
  private readonly plain: boolean;
  private readonly json: boolean;

  constructor(private readonly converter: LoadedDataConverter) {
    this.plain = converter.payloadCodecs.every(isCompression);
    this.json = converter.payloadConverter === defaultPayloadConverter;
  }

  isImmediate(payload: Payload): boolean {
    return this.plain && (this.converter.externalStorage === undefined || !isReference(payload));
  }

  async value(payload: Payload): Promise<unknown> {
    if (this.isImmediate(payload)) return this.plainValue(payload);
    const { externalStorage, payloadCodecs } = this.converter;
    const stored = externalStorage !== undefined && isReference(payload) ? await retrieved(payload, externalStorage) : payload;
    try {
      let decoded = [stored];
      for (const codec of [...payloadCodecs].reverse()) decoded = await codec.decode(decoded);
      return this.converted(decoded[0] as Payload);
    } catch (error) {
      throw unreadable(payload, error);
    }
  }

  plainValue(payload: Payload): unknown {
    try {
      return this.converted(payload);
    } catch (error) {
      throw unreadable(payload, error);
    }
  }

  /** The SDK's converter decodes bytes one by one, for the sandbox. */
  private converted(encoded: Payload): unknown {
    const payload = decompressed(encoded);
    const { data, metadata } = payload;
    if (this.json && data != null && isJson(metadata?.['encoding']))
      return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
    return this.converter.payloadConverter.fromPayload(payload);
  }

  /** Any client may write a memo, so unreadable fields are left out. */
  async readable(fields: Readonly<Record<string, Payload>>): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    for (const [key, payload] of Object.entries(fields)) {
      const value = await this.value(payload).catch(() => undefined);
      if (value !== undefined) values[key] = value;
    }
    return values;
  }
}

const json = Buffer.from('json/plain');

function isJson(encoding: Uint8Array | undefined): boolean {
  return encoding !== undefined && json.equals(encoding);
}

function unreadable({ metadata }: Payload, cause: unknown): HoldfastError {
  const encoding = Buffer.from(metadata?.['encoding'] ?? []).toString();
  return new HoldfastError(
    'run-unreadable',
    `The run has data in the encoding "${encoding.slice(0, 100)}", which cannot be read here: ${messageOf(cause).slice(0, 300)}`,
    { cause, details: { retryable: true } },
  );
}
