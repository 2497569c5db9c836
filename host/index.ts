export { configurationTable, readConfiguration, type Configuration, type ConfigurationName, type Environment } from './configuration';
export {
  connectNative,
  connectTemporal,
  isLoopback,
  nativeConnectionOptions,
  type TemporalConnection,
  type TemporalSettings,
} from './connection';
export { startEmbeddedServer, type EmbeddedServer, type EmbeddedServerOptions, type ServerExit } from './server/embedded-server';
export { cacheDirectory } from './cache-directory';
export { findServerBinary, type ServerBinary } from './server/server-binary';
export {
  createLogger,
  logFormats,
  logLevels,
  type LogFields,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from './logger';
export { checkSearchAttributes } from './search-attributes';
