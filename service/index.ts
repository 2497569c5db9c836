/** `holdfast/service`: the HTTP service in a process of your own. */

export { loadProject } from './project/load-project';
export type { Project } from './project/load-project';
export { createApp } from './http/app';
export type { ServiceParts } from './parts';
export type { AccessOptions, Identity, Issuer } from './access/parts';
export type { ServiceStore } from './store/store';
export type { TriggerDelivery, TriggerOptions } from './triggers/options';
export type { ModelPrices } from '../contract/prices';
export { startService } from './http/start-service';
export type { RunningService, ServiceOptions } from './http/start-service';

export { connectTemporal } from '../host/connection';
export type { TemporalSettings } from '../host/connection';
export { readConfiguration } from '../host/configuration';
export type { Configuration } from '../host/configuration';
export { createLogger } from '../host/logger';
export type { Logger } from '../host/logger';
export { startEmbeddedServer } from '../host/server/embedded-server';
export type { EmbeddedServer } from '../host/server/embedded-server';
export { DirectoryDriver, snapshotStorage } from '../host/snapshot-storage';
export { RedisBus } from '../host/redis/redis-bus';

export { HoldfastError, codeOf, errorTable } from '../contract/errors';
export type { ErrorCode } from '../contract/errors';
