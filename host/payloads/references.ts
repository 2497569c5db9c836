import { StorageDriverClaim, type ExternalStorage, type Payload } from '@temporalio/common';
import { HoldfastError } from '../../contract/errors';

const encoding = Buffer.from('json/protobuf');
const messageType = Buffer.from('temporal.api.sdk.v1.ExternalStorageReference');

export function isReference({ metadata }: Payload): boolean {
  return encoding.equals(metadata?.['encoding'] ?? none) && messageType.equals(metadata?.['messageType'] ?? none);
}

export async function retrieved({ data }: Payload, storage: ExternalStorage): Promise<Payload> {
  const { driverName, claimData } = JSON.parse(Buffer.from(data ?? none).toString('utf8')) as Reference;
  const driver = storage.getDriver(driverName ?? '');
  if (driver === null) throw new HoldfastError('run-unreadable', `There is no storage driver "${driverName ?? ''}" here.`);
  const [payload] = await driver.retrieve({}, [new StorageDriverClaim(claimData ?? {})]);
  if (payload === undefined) throw new HoldfastError('run-unreadable', `The storage driver "${driver.name}" gave nothing.`);
  return payload;
}

interface Reference {
  readonly driverName?: string;
  readonly claimData?: Record<string, string>;
}

const none = new Uint8Array();
