import type { LoadedDataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow';
import { FactReader } from '../../../host/history/history-facts';
import { PayloadReader } from '../../../host/history/payload-reader';

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const values = [{ text: 'Grüße, 你好 🙂 \u0000', list: [1, null] }, 'text', 0, false, null, ''];

const turning: PayloadCodec = {
  encode: (payloads) =>
    Promise.resolve(
      payloads.map(({ metadata, data }) => ({
        metadata: { encoding: Buffer.from('binary/turned'), was: metadata?.['encoding'] ?? Buffer.alloc(0) },
        data: (data ?? Buffer.alloc(0)).map((byte) => byte ^ 0xff),
      })),
    ),
  decode: (payloads) =>
    Promise.resolve(
      payloads.map(({ metadata, data }) => ({
        metadata: { encoding: metadata?.['was'] ?? Buffer.alloc(0) },
        data: (data ?? Buffer.alloc(0)).map((byte) => byte ^ 0xff),
      })),
    ),
};

describe('the reader of payloads', () => {
  it('reads what the converter of the SDK reads, without waiting', async () => {
    const reader = new PayloadReader(loadDataConverter());
    for (const value of [...values, undefined, Buffer.from([1, 2])]) {
      expect(reader.isImmediate(payloadOf(value))).toBe(true);
      expect(reader.plainValue(payloadOf(value))).toEqual(defaultPayloadConverter.fromPayload(payloadOf(value)));
      expect(await reader.value(payloadOf(value))).toEqual(defaultPayloadConverter.fromPayload(payloadOf(value)));
    }
  });

  it('takes the way through codecs when there are any', async () => {
    const reader = new PayloadReader(loadDataConverter({ payloadCodecs: [turning] }));
    for (const value of values) {
      const [encoded] = await turning.encode([payloadOf(value)]);
      expect(reader.isImmediate(encoded as Payload)).toBe(false);
      expect(await reader.value(encoded as Payload)).toEqual(value);
    }
  });

  it('waits for a storage only where a payload is kept there', () => {
    const externalStorage = { drivers: [] } as unknown as NonNullable<LoadedDataConverter['externalStorage']>;
    const reader = new PayloadReader({ ...loadDataConverter(), externalStorage });
    const encoding = Buffer.from('json/protobuf');
    const messageType = Buffer.from('temporal.api.sdk.v1.ExternalStorageReference');
    expect(reader.isImmediate(payloadOf({ text: 'here' }))).toBe(true);
    expect(reader.isImmediate({ metadata: { encoding, messageType }, data: Buffer.from('{}') })).toBe(false);
  });

  it('leaves JSON to a converter that is not the one of the SDK', () => {
    const own = { toPayload: () => payloadOf(0), fromPayload: <T>(): T => 'own' as T };
    const converter: LoadedDataConverter = { ...loadDataConverter(), payloadConverter: own };
    expect(new PayloadReader(converter).plainValue(payloadOf('text'))).toBe('own');
  });

  it('says which encoding it cannot read, with and without codecs', async () => {
    const secret: Payload = { metadata: { encoding: Buffer.from('binary/secret') }, data: Buffer.from([1]) };
    const broken: Payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"a') };
    const failing = loadDataConverter({ payloadCodecs: [{ ...turning, decode: () => Promise.reject(new Error('No key.')) }] });
    const unreadable = (part: string) => expect.objectContaining({ code: 'run-unreadable', message: expect.stringContaining(part) });
    for (const payload of [secret, broken]) {
      const encoding = Buffer.from(payload.metadata?.['encoding'] ?? []).toString();
      await expect(new PayloadReader(loadDataConverter()).value(payload)).rejects.toEqual(unreadable(`"${encoding}"`));
      await expect(new PayloadReader(failing).value(payload)).rejects.toEqual(unreadable('No key.'));
    }
    await expect(
      new FactReader(loadDataConverter()).read(
        [{ workflowExecutionStartedEventAttributes: { input: { payloads: [secret] } } }],
        'default/r',
      ),
    ).rejects.toEqual(unreadable('binary/secret'));
  });

  it('makes the same facts with codecs and without, and leaves the payloads alone of which none are made', async () => {
    const secret: Payload = { metadata: { encoding: Buffer.from('binary/secret') }, data: Buffer.from([1]) };
    const events = (payload: Payload) => [
      {
        eventId: 5,
        activityTaskScheduledEventAttributes: { activityId: 'a', activityType: { name: 'callModel' }, input: { payloads: [payload] } },
      },
      {
        eventId: 6,
        activityTaskScheduledEventAttributes: { activityId: 'b', activityType: { name: 'other' }, input: { payloads: [secret] } },
      },
      { eventId: 7, workflowPropertiesModifiedEventAttributes: { upsertedMemo: { fields: { note: payload } } } },
    ];
    const input = { path: ['a'], turn: 1 };
    const [encoded] = await turning.encode([payloadOf(input)]);
    const plain = await new FactReader(loadDataConverter()).read(events(payloadOf(input)), 'default/r');
    expect(plain).toEqual([
      { kind: 'model-scheduled', time: 0, eventId: 5, activityId: 'a', input },
      { kind: 'memo', time: 0, values: { note: input } },
    ]);
    const codecs = new FactReader(loadDataConverter({ payloadCodecs: [turning] }));
    expect(await codecs.read(events(encoded as Payload), 'default/r')).toEqual(plain);
  });
});
