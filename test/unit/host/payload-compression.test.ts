import { createHash, randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common';
import { decode, encode, loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { temporal } from '@temporalio/proto';
import { PayloadReader } from '../../../host/history/payload-reader';
import { beginningOf, withCompression } from '../../../host/payloads/compression';
import { dictionary } from '../../../host/payloads/compression-dictionary';
import { snapshotStorage } from '../../../host/snapshot-storage';
import { english } from '../../support/english';

const proto = temporal.api.common.v1.Payload;
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const encodingOf = (payload: Payload | undefined): string => Buffer.from(payload?.metadata?.['encoding'] ?? []).toString();

const written = async (value: unknown, converter: DataConverter): Promise<Payload> =>
  (await encode(loadDataConverter(converter).payloadCodecs, [payloadOf(value)]))[0] as Payload;

const secret: PayloadCodec = {
  encode: (payloads) =>
    Promise.resolve(
      payloads.map((payload) => ({
        metadata: { encoding: Buffer.from('binary/secret') },
        data: proto
          .encode(payload)
          .finish()
          .map((byte, at) => byte ^ (at * 7 + 13)),
      })),
    ),
  decode: (payloads) =>
    Promise.resolve(payloads.map(({ data }) => proto.decode((data ?? new Uint8Array(0)).map((byte, at) => byte ^ (at * 7 + 13))))),
};

const text = english(1600);
const values = [{ text, list: [1, null, 'Grüße, 你好 🙂'] }, text, english(300_000), 'short', 0, null, ''];
const on = withCompression(undefined, true);

describe('compressed payloads', () => {
  it('take half the bytes of English', async () => {
    const { data, metadata } = await written({ text }, on);
    expect(data?.length).toBeLessThan(0.56 * 1600);
    expect(encodingOf({ metadata, data })).toBe('holdfast/z1');
  });

  it('are read by readers that write none, and so are those that nobody compressed', async () => {
    for (const converter of [undefined, {}, withCompression(undefined), withCompression(undefined, false), on])
      for (const writer of [{}, on]) {
        const reader = new PayloadReader(loadDataConverter(converter));
        for (const value of values) {
          const payload = await written(value, writer);
          expect(reader.isImmediate(payload)).toBe(true);
          expect(reader.plainValue(payload)).toEqual(value);
          expect(await reader.value(payload)).toEqual(value);
        }
      }
  });

  it('are read by a worker and a client that write none', async () => {
    const { payloadCodecs, payloadConverter } = loadDataConverter(withCompression(undefined));
    for (const value of values) {
      const [payload] = await decode(payloadCodecs, [await written(value, on)]);
      expect(payloadConverter.fromPayload(payload as Payload)).toEqual(value);
      expect(await written(value, { payloadCodecs })).toEqual(payloadOf(value));
    }
  });

  it('are smaller before a codec of the user encrypts them, whatever its place', async () => {
    const both = withCompression({ payloadCodecs: [secret] }, true);
    const payload = await written({ text }, both);
    expect(encodingOf(payload)).toBe('binary/secret');
    expect(payload.data?.length).toBeLessThan(0.6 * 1600);
    for (const reading of [both, withCompression({ payloadCodecs: [secret] })]) {
      expect(await new PayloadReader(loadDataConverter(reading)).value(payload)).toEqual({ text });
      const loaded = loadDataConverter(reading);
      expect(loaded.payloadConverter.fromPayload((await decode(loaded.payloadCodecs, [payload]))[0] as Payload)).toEqual({ text });
    }
    expect(await new PayloadReader(loadDataConverter({ payloadCodecs: [secret] })).value(payload)).toEqual({ text });
  });

  it('keep other metadata, and an encoding that is not JSON', async () => {
    const given = { metadata: { encoding: Buffer.from('json/own'), type: Buffer.from('T') }, data: Buffer.from(text) };
    const { payloadCodecs } = loadDataConverter(on);
    const [encoded] = await encode(payloadCodecs, [given]);
    expect(encodingOf(encoded)).toBe('holdfast/z1');
    const [decoded] = await decode(payloadCodecs, [encoded as Payload]);
    expect({ ...decoded, data: Buffer.from(decoded?.data ?? []) }).toEqual({ metadata: given.metadata, data: given.data });
  });

  it('leave alone what is small, what would stay as large, and what is compressed already', async () => {
    const random = { metadata: { encoding: Buffer.from('binary/plain') }, data: randomBytes(2000) };
    const small = payloadOf('small');
    const [once] = await encode(on.payloadCodecs ?? [], [payloadOf(text)]);
    for (const payload of [random, small, once as Payload]) expect(await encode(on.payloadCodecs ?? [], [payload])).toEqual([payload]);
  });

  it('are compressed once when a converter gets it twice, and no more when it is turned off', () => {
    expect(withCompression(on).payloadCodecs).toBe(on.payloadCodecs);
    expect(withCompression(on, true).payloadCodecs).toBe(on.payloadCodecs);
    expect(withCompression(on, false).payloadCodecs).toHaveLength(1);
    expect(withCompression(withCompression({ payloadCodecs: [secret] }, true), false).payloadCodecs?.[1]).toBe(secret);
  });

  it('that are damaged, or of an encoding of the future, are unreadable by their code', async () => {
    const payload = await written({ text }, on);
    const metadata = payload.metadata ?? {};
    const bomb = deflateRawSync(Buffer.alloc(80 * 1024 * 1024), { dictionary });
    for (const broken of [
      { metadata, data: payload.data?.subarray(0, 100) ?? null },
      { metadata, data: Buffer.from('no such thing') },
      { metadata, data: bomb },
      { metadata: { encoding: Buffer.from('holdfast/z2') }, data: payload.data ?? null },
    ]) {
      const refusal = expect.objectContaining({ code: 'run-unreadable', message: expect.stringContaining('"holdfast/z') });
      for (const converter of [{}, on, withCompression({ payloadCodecs: [secretPassing] })])
        await expect(new PayloadReader(loadDataConverter(converter)).value(broken)).rejects.toEqual(refusal);
      // A signal with broken data must not fail workflow tasks, so the code gets an encoding that the converter refuses.
      expect(await decode(on.payloadCodecs ?? [], [broken])).toEqual([broken]);
      expect(() => defaultPayloadConverter.fromPayload(broken)).toThrow('Unknown encoding');
    }
  });

  it('go to the storage of snapshots when they are some, compressed or not', async () => {
    const snapshot = { start: { version: 1 }, snapshot: english(1_500_000) };
    const driver = { name: 'd', type: 'd', store: () => Promise.resolve([]), retrieve: () => Promise.resolve([]) };
    const { externalStorage } = snapshotStorage(driver);
    const selected = (payload: Payload): unknown => externalStorage?.driverSelector({}, payload);
    expect(selected(payloadOf(snapshot))).toBe(driver);
    const compressed = await written(snapshot, on);
    expect(encodingOf(compressed)).toBe('holdfast/z1');
    expect(selected(compressed)).toBe(driver);
    expect(selected(await written({ other: english(1_500_000) }, on))).toBe(null);
    expect(beginningOf({ ...compressed, data: Buffer.from('damaged') }, 10)).toHaveLength(0);
  });

  it('name places in a text that never changes', () => {
    expect(createHash('sha256').update(dictionary).digest('hex')).toBe('09d3b6977f35e0cf151f931d5e0deb4a4cefd7a36d8ba3dbd72761c3f0900487');
  });
});

const secretPassing: PayloadCodec = { encode: (payloads) => Promise.resolve(payloads), decode: (payloads) => Promise.resolve(payloads) };
