import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DataConverter, LoadedDataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { HoldfastError, messageOf } from '../../contract/errors';
import { dictionary } from './compression-dictionary';

/** The encoding of compressed payloads. It stands in histories: what it means never changes. */
const compressed = 'holdfast/z1';
const mark = Buffer.from(compressed);
/** Under this the metadata says which encoding a payload had before. Absent: JSON, as nearly always. */
const before = 'holdfast-was';
const usual = Buffer.from('json/plain');

/** Smaller ones save less than their reading costs, and stay readable to everybody. */
const worthFrom = 200;
/** A payload that keeps more than this share of its bytes stays as it is. */
const worthShare = 0.9;
/** What takes longer than this to compress is compressed beside the main thread. */
const longFrom = 64 * 1024;
/** The most that a payload may become: nothing that anybody wrote comes near it. */
const most = 64 * 1024 * 1024;

const settings = { level: 6, dictionary };
const compressBeside = promisify<Buffer, typeof settings, Buffer>(deflateRaw);

/**
 * Compresses payloads, and reads compressed ones. What it cannot read it leaves as it is, in an encoding that no converter knows: whoever needs the value
 * fails, and whoever does not, such as a run that gets a broken signal, goes on.
 */
class Compression implements PayloadCodec {
  constructor(readonly writes: boolean) {}

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return this.writes ? Promise.all(payloads.map(compress)) : payloads;
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map(readableOrSame));
  }
}

/**
 * The data converter, reading compressed payloads, and writing them if `writes`; undefined: as it did, which is not. A codec of the user's comes after
 * it, and may encrypt.
 */
export function withCompression(converter: DataConverter | undefined, writes?: boolean): DataConverter {
  return { ...converter, payloadCodecs: codecsWith(converter?.payloadCodecs ?? [], writes) };
}

/** The same of a loaded converter. It is the same one if nothing is to be changed. */
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

/** One is enough. The one that there is stays, unless this one shall write. */
function codecsWith(codecs: PayloadCodec[], writes?: boolean): PayloadCodec[] {
  const has = codecs.find(isCompression) as Compression | undefined;
  if (has !== undefined && (writes === undefined || writes === has.writes)) return codecs;
  return [new Compression(writes ?? false), ...codecs.filter((codec) => codec !== has)];
}

/** The payload as it was before it was compressed. Others are returned as they are. */
export function decompressed(payload: Payload): Payload {
  if (!isCompressed(payload)) return payload;
  const { [before]: encoding = usual, ...others } = payload.metadata ?? {};
  return { metadata: { ...others, encoding }, data: decompressedData(payload) };
}

/** The first bytes of what a payload says, without the cost of all of it. */
export function beginningOf({ metadata, data }: Payload, bytes: number): Uint8Array {
  if (data == null) return new Uint8Array(0);
  if (!isCompressed({ metadata, data })) return data.subarray(0, bytes);
  try {
    // Enough for the head of a block and some of what it has.
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

/** Room of the usual 16 KB, made for each of thousands of small payloads, takes longer than to fill it. */
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
  // Values that are elsewhere have their own description, and no data of ours.
  if ((payload.externalPayloads?.length ?? 0) > 0 || metadata?.[before] !== undefined) return payload;
  const smaller = data.length < longFrom ? deflateRawSync(data, settings) : await compressBeside(Buffer.from(data), settings);
  if (smaller.length > data.length * worthShare) return payload;
  return { metadata: { ...metadata, ...(usual.equals(encoding) ? {} : { [before]: encoding }), encoding: mark }, data: smaller };
}
