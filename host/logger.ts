import { withoutCredentials } from '../contract/credentials';
import { onOneLine, printable } from './printable';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

type LogFields = Record<string, unknown>;

export interface Logger {
  log(level: string, message: string, fields?: LogFields): void;
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  readonly format?: LogFormat;
}

export interface LoggerOptions {
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  readonly write?: (line: string) => void;
}

/**
 * Writes lines to stderr, so that stdout stays free for answers. Never throws.
 * @example
 * const logger = createLogger();
 * logger.info('The service begins.', { port: 4747 });
 * logger.error('The service failed.', { error: new Error('no port') });
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const threshold = logLevels.indexOf(options.level ?? 'info');
  const format = options.format ?? 'text';
  const write = options.write ?? ((line: string) => void process.stderr.write(line));

  const log = (level: string, message: string, fields: LogFields = {}): void => {
    const rank = logLevels.indexOf(level.toLowerCase() as LogLevel);
    if (rank < 0 || rank < threshold || threshold === logLevels.indexOf('silent')) return;
    const line = format === 'json' ? jsonLine(level, message, fields) : textLine(level, message, fields);
    write(`${printable(withoutCredentials(line))}\n`);
  };
  return {
    format,
    log,
    trace: (message, fields) => log('trace', message, fields),
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
  };
}

function jsonLine(level: string, message: string, fields: LogFields): string {
  const head = { time: new Date().toISOString(), level: level.toLowerCase(), message };
  try {
    return JSON.stringify({ ...fields, ...head }, plain);
  } catch {
    return JSON.stringify({ ...head, fields: 'not JSON' });
  }
}

function textLine(level: string, message: string, fields: LogFields): string {
  const time = new Date().toISOString().slice(11, 23);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const tail = given.filter(([name]) => !blocks.includes(name)).map(([name, value]) => ` ${name}=${textValue(value)}`);
  const below = blocks.map((name) => fields[name]).filter((value) => typeof value === 'string');
  return [onOneLine(`${time} ${level.toLowerCase().padEnd(5)} ${message}${tail.join('')}`), ...below.map(indented)].join('\n');
}

const blocks: readonly string[] = ['source', 'stack'];

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line.trim()}`)
    .join('\n');
}

function textValue(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value;
  try {
    return JSON.stringify(value, plain) ?? String(value);
  } catch {
    return String(value);
  }
}

/** JSON.stringify drops the message of an Error and refuses a bigint. */
function plain(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Error)) return value;
  const { code, details } = value as Error & { code?: unknown; details?: unknown };
  return { name: value.name, message: value.message, code, details, stack: value.stack, cause: value.cause };
}
