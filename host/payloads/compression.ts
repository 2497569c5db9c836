import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DataConverter, LoadedDataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { HoldfastError, messageOf } from '../../contract/errors';
import { dictionary } from './compression-dictionary';

const compressed = 'holdfast/z1';
const mark = Buffer.from(compressed);
const before = 'holdfast-was';
const usual = Buffer.from('json/plain');

/** Reading smaller payloads costs more than compression saves. */
const worthFrom = 200;
const worthShare = 0.9;
const longFrom = 64 * 1024;
/** Most bytes of a decompressed payload, against zip bombs. */
const most = 64 * 1024 * 1024;

const settings = { level: 6, dictionary };
const compressBeside = promisify<Buffer, typeof settings, Buffer>(deflateRaw);

/** An unreadable payload keeps its encoding, which fails only in code that needs the value: a broken signal does not stop a run. */
class Compression implements PayloadCodec {
  constructor(readonly writes: boolean) {}

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return this.writes ? Promise.all(payloads.map(compress)) : payloads;
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map(readableOrSame));
  }
}

/** `writes` undefined: as before, by default no. The user's codecs come after compression, and may encrypt. */
export function withCompression(converter: DataConverter | undefined, writes?: boolean): DataConverter {
  return { ...converter, payloadCodecs: codecsWith(converter?.payloadCodecs ?? [], writes) };
}

export function loadedWithCompression(converter: LoadedDataConverter, writes?: boolean): LoadedDataConverter {
  const payloadCodecs = codecsWith(converter.payloadCodecs, writes);
  return payloadCodecs === converter.payloadCodecs ? converter : { ...converter, payloadCodecs };
}

export function readsCompressed({ payloadCodecs = [] }: DataConverter): boolean {
  return payloadCodecs.some(isCompression);
}

export function isCompression(codec: PayloadCodec): boolean {
  return codec instanceof Compression;
}

function codecsWith(codecs: PayloadCodec[], writes?: boolean): PayloadCodec[] {
  const has = codecs.find(isCompression) as Compression | undefined;
  if (has !== undefined && (writes === undefined || writes === has.writes)) return codecs;
  return [new Compression(writes ?? false), ...codecs.filter((codec) => codec !== has)];
}

export function decompressed(payload: Payload): Payload {
  if (!isCompressed(payload)) return payload;
  const { [before]: encoding = usual, ...others } = payload.metadata ?? {};
  return { metadata: { ...others, encoding }, data: decompressedData(payload) };
}

export function beginningOf({ metadata, data }: Payload, bytes: number): Uint8Array {
  if (data == null) return new Uint8Array(0);
  if (!isCompressed({ metadata, data })) return data.subarray(0, bytes);
  try {
    return inflateRawSync(data.subarray(0, 1024), { dictionary, finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, bytes);
  } catch {
    return new Uint8Array(0);
  }
}

function isCompressed({ metadata }: Payload): boolean {
  const encoding = metadata?.['encoding'];
  return encoding?.length === mark.length && mark.equals(encoding);
}

function decompressedData({ data }: Payload): Uint8Array {
  const given = data ?? new Uint8Array(0);
  try {
    return inflateRawSync(given, { dictionary, maxOutputLength: most, chunkSize: roomFor(given) });
  } catch (error) {
    throw new HoldfastError('run-unreadable', `Compressed data of the run is damaged: ${messageOf(error)}`, {
      cause: error,
      details: { retryable: true },
    });
  }
}

/** The usual 16 KB for thousands of small payloads take longer than decompressing. */
function roomFor({ length }: Uint8Array): number {
  return Math.min(16 * 1024, Math.max(1024, 8 * length));
}

function readableOrSame(payload: Payload): Payload {
  try {
    return decompressed(payload);
  } catch {
    return payload;
  }
}

async function compress(payload: Payload): Promise<Payload> {
  const { metadata, data } = payload;
  const encoding = metadata?.['encoding'];
  if (data == null || encoding === undefined || data.length < worthFrom || data.length > most || isCompressed(payload)) return payload;
  // Payloads in external storage have no data.
  if ((payload.externalPayloads?.length ?? 0) > 0 || metadata?.[before] !== undefined) return payload;
  const smaller = data.length < longFrom ? deflateRawSync(data, settings) : await compressBeside(Buffer.from(data), settings);
  if (smaller.length > data.length * worthShare) return payload;
  return { metadata: { ...metadata, ...(usual.equals(encoding) ? {} : { [before]: encoding }), encoding: mark }, data: smaller };
}
