import type { LoadedDataConverter, Payload } from '@temporalio/common';
import { ExternalStorageRunner, decode } from '@temporalio/common/lib/internal-non-workflow';
import { isReferencePayload } from '@temporalio/common/lib/internal-non-workflow/extstore-helpers';
import { HoldfastError, messageOf } from '../contract/plain/errors';

/** Reads what stands in histories and memos, with the codecs and the storage of a data converter. */
export class PayloadReader {
  constructor(private readonly converter: LoadedDataConverter) {}

  async value(payload: Payload): Promise<unknown> {
    const { externalStorage, payloadCodecs, payloadConverter } = this.converter;
    const stored =
      externalStorage !== undefined && isReferencePayload(payload)
        ? (await new ExternalStorageRunner(externalStorage).retrieve([payload]))[0]
        : payload;
    try {
      const [decoded] = payloadCodecs.length === 0 ? [stored] : await decode(payloadCodecs, [stored as Payload]);
      return payloadConverter.fromPayload(decoded as Payload);
    } catch (error) {
      throw unreadable(payload, error);
    }
  }

  async record(fields: Readonly<Record<string, Payload>>): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    for (const [key, payload] of Object.entries(fields)) values[key] = await this.value(payload);
    return values;
  }

  /** The same of a memo that anybody may have written: what cannot be read is left out. */
  async readable(fields: Readonly<Record<string, Payload>>): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    for (const [key, payload] of Object.entries(fields)) {
      const value = await this.value(payload).catch(() => undefined);
      if (value !== undefined) values[key] = value;
    }
    return values;
  }
}

function unreadable({ metadata }: Payload, cause: unknown): HoldfastError {
  const encoding = Buffer.from(metadata?.['encoding'] ?? []).toString();
  return new HoldfastError(
    'run-unreadable',
    `The run has data in the encoding "${encoding.slice(0, 100)}", which cannot be read here: ${messageOf(cause).slice(0, 300)}`,
    { cause, details: { retryable: true } },
  );
}
