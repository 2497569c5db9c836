import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Forms } from '../../contract/check';
import { checkOptions, filled, flag, form, having, isFilled, isRecord, record } from '../../contract/check';
import type { DeltaSource } from '../../contract/deltas';
import { HoldfastError } from '../../contract/errors';
import { isTenant, tenantForm } from '../../contract/names';
import { shown } from '../../contract/shown';
import type { TemporalSettings } from '../../host/connection';

export interface ConnectOptions {
  /**
   * host:port of the server. Default: Temporal's environment variables and profile, else the server of `holdfast dev` in this directory,
   * else localhost:7233.
   */
  readonly address?: string;
  readonly server?: TemporalSettings;
  /** Your Temporal client, with its connection, namespace, data converter and interceptors. `close` leaves the client open. */
  readonly client?: Client;
  readonly tenant?: string;
  readonly taskQueue?: string;
  /** With external storage, use the worker's data converter. */
  readonly dataConverter?: DataConverter;
  /** Whether this client compresses payloads. Default: HOLDFAST_COMPRESS, else on with the embedded server only. */
  readonly compress?: boolean;
  /** The source of tokens during calls. Default: the workers of this process. */
  readonly deltas?: DeltaSource;
}

const connectForms: Forms<ConnectOptions> = {
  address: filled,
  server: form(
    (value) => isRecord(value) && isFilled(value['address']),
    'an object that says where the Temporal server is: { address: "localhost:7233", namespace: "default" }',
  ),
  client: form(
    (value) => isRecord(value) && ['connection', 'workflow', 'options'].every((part) => isRecord(value[part])),
    'a Client of @temporalio/client',
  ),
  taskQueue: filled,
  tenant: form(isTenant, tenantForm),
  dataConverter: record,
  compress: flag,
  deltas: having(['subscribe'], 'a source of deltas'),
};

export function checkConnectOptions(options: unknown): void {
  if (!isRecord(options))
    throw new HoldfastError(
      'config-invalid',
      `connect: the options must be an object such as { address: "localhost:7233" }, not ${shown(options)}.`,
    );
  checkOptions('connect', options, connectForms, 'config-invalid');
}
