import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redact } from '../../../activities/failures';
import { checkKeyedEnvironment, keyedProviderTable } from '../../../activities/models/providers/keyed';
import { findService } from '../../../cli/find-service';
import { reportError, reportFailure } from '../../../cli/report-error';
import { withCode } from '../../../client/connection/lost-server';
import { withoutCredentials } from '../../../contract/credentials';
import { codeOf } from '../../../contract/errors';
import { configurationTable, readConfiguration } from '../../../host/configuration';
import { connectTemporal } from '../../../host/connection';
import { checkPortFree, listenFailure } from '../../../host/server/free-port';
import { createLogger } from '../../../host/logger';
import { namedSystemError } from '../../../host/system-errors';
import { startService } from '../../../service/http/start-service';
import { ProjectConfigSchema } from '../../../service/project/project-config';
import type { ConfigurationName } from '../../../host/configuration';
import { recordedTerminal } from '../../support/recorded-terminal';
import { errorOf, errorSaying } from '../../support/failures';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-settings-'));
const noPem = join(folder, 'no.pem');
writeFileSync(noPem, 'no certificate');

/** Invalid values per variable, or the reason why any value is valid. */
const wrong: Record<ConfigurationName, readonly string[] | string> = {
  HOLDFAST_DIR: ['a\0b'],
  HOLDFAST_HOST: ['http://127.0.0.1', '127.0.0.1:80', '[::1]', 'a b', '1.2.3', '999.1.1.1', 'a/b', '-a'],
  HOLDFAST_PORT: ['many', '-1', '1.5', '70000', '0x10'],
  HOLDFAST_URL: ['localhost', 'ftp://a', 'http://', 'http://ada:geheim@a', 'http://a/?b', 'http://a/#b'],
  HOLDFAST_PUBLIC_URL: ['desk.test', 'http://desk.test', 'ftp://127.0.0.1', 'https://ada:geheim@a', 'https://a/?b', 'https://a/#b'],
  HOLDFAST_KEY: ['geheim\n', 'geheimü'],
  HOLDFAST_TASK_QUEUE: [' a', 'a\nb', 'a.b', 'a:b', '__a', '/_sys/a', 'a'.repeat(201)],
  HOLDFAST_TENANT: ['a/b', ' ', 'a'.repeat(201)],
  HOLDFAST_REDIS_URL: ['localhost:6379', 'http://a', 'redis://ada:geheim@h:99999'],
  HOLDFAST_COMPRESS: ['yes', '1', 'gzip'],
  HOLDFAST_MAX_CACHED_RUNS: ['soon', '-1', '0', '1', '0.5', '1000001'],
  HOLDFAST_STOCK_SDK: ['true', '0', 'yes'],
  HOLDFAST_PUSH_SECRET: ['geheim', 'whsec_', 'whsec_geheim', `whsec_${'A'.repeat(32)}geheim!`, `whsec_${'A'.repeat(88)}`, ' '],
  HOLDFAST_LOG_LEVEL: ['loud'],
  HOLDFAST_LOG_FORMAT: ['xml'],
  HOLDFAST_TEMPORAL_CLI: 'a binary that is not there is server-unavailable when it is to be started',
  TEMPORAL_ADDRESS: ['http://x:1', 'ada:geheim@h:1', 'a b:1', 'a:99999', 'a:0', ':7233', 'h:', 'a,b:1', '::1:7233', 'h:1/path', '[x]:1'],
  TEMPORAL_NAMESPACE: [' ', 'a b', 'a\tb'],
  TEMPORAL_API_KEY: ['geheim\n', 'geheim\u0001', 'geheimü'],
  TEMPORAL_TLS: ['maybe', 'TRUE', 'yes'],
  TEMPORAL_TLS_CLIENT_CERT_PATH: ['/nowhere/cert.pem', noPem, folder],
  TEMPORAL_TLS_CLIENT_CERT_DATA: ['no certificate'],
  TEMPORAL_TLS_CLIENT_KEY_PATH: ['/nowhere/key.pem'],
  TEMPORAL_TLS_CLIENT_KEY_DATA: ['no key'],
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: ['/nowhere/ca.pem', noPem],
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: ['no certificate'],
  TEMPORAL_TLS_SERVER_NAME: ['https://a', 'a b'],
  TEMPORAL_CONFIG_FILE: ['/nowhere/temporal.toml', folder],
  TEMPORAL_PROFILE: ['absent'],
  XDG_CACHE_HOME: 'a place that cannot be written to is server-unavailable when a binary is to be put there',
};

const environment = (variables: Record<string, string>): Record<string, string> => ({
  HOME: folder,
  XDG_CONFIG_HOME: folder,
  ...variables,
});

/** Refuses by name, and keeps the secret. */
function refuses(run: () => unknown, name = ''): void {
  expect(run).toThrow(errorSaying('config-invalid', name));
  expect(run).toThrow(errorOf('config-invalid', expect.not.stringContaining('geheim')));
}

describe('settings', () => {
  it.each(
    Object.entries(wrong).flatMap(([name, values]) => (typeof values === 'string' ? [] : values.map((value) => [name, value] as const))),
  )('are refused before anything runs: %s=%j', (name, value) => {
    refuses(() => readConfiguration(environment({ [name]: value })), name.replace(/_(PATH|DATA)$/, ''));
  });

  it('are all in this test', () => {
    expect(Object.keys(wrong).sort()).toEqual(Object.keys(configurationTable).sort());
  });

  it('are refused in headers for the server, too', () => {
    refuses(() => readConfiguration(environment({ TEMPORAL_GRPC_META_TEAM: 'geheim\nx' })));
  });

  it.each(Object.entries(keyedProviderTable))('of the provider %s are refused when no request can be sent with them', (_, provider) => {
    for (const url of ['notaurl', 'ftp://a', 'https://ada:geheim@models.test/v1', 'https://models.test/v1?key=1'])
      refuses(() => checkKeyedEnvironment({ [provider.urlVariable]: url }), provider.urlVariable);
    refuses(() => checkKeyedEnvironment({ [provider.keyVariable]: 'geheim\n' }), provider.keyVariable);
    checkKeyedEnvironment({ [provider.keyVariable]: 'sk-1', [provider.urlVariable]: 'https://models.test/v1' });
  });

  it('of a project are refused like those of the environment', () => {
    for (const config of [{ http: { host: 'http://a' } }, { http: { host: '' } }, { taskQueue: 'a.b' }, { taskQueue: '' }])
      expect(ProjectConfigSchema.safeParse({ agents: './agents.ts', ...config }).success).toBe(false);
    expect(ProjectConfigSchema.safeParse({ agents: './agents.ts', taskQueue: 'agents-1', http: { host: '::1' } }).success).toBe(true);
  });

  it('for a server that come from code are refused, too', async () => {
    for (const settings of [
      { address: 'http://x:1', namespace: 'default' },
      { address: 'a:1', namespace: 'default', apiKey: 'geheim\n' },
      { address: 'a:1', namespace: 'default', tls: { clientCertPair: { crt: Buffer.from('no'), key: Buffer.from('no') } } },
    ]) {
      const error: unknown = await connectTemporal(settings).catch((reason: unknown) => reason);
      expect(codeOf(error)).toBe('config-invalid');
      expect((error as Error).message).not.toContain('geheim');
    }
  });
});

describe('users and passwords in URLs', () => {
  it('are taken out of texts, and nothing else is', () => {
    expect(withoutCredentials('GET http://ada:ge@heim@host/a?b failed')).toBe('GET http://[credentials]@host/a?b failed');
    expect(withoutCredentials('see postgres://:pw@db/x and ssh://token@git.test/y')).toBe(
      'see postgres://[credentials]@db/x and ssh://[credentials]@git.test/y',
    );
    for (const text of ['mail ada@host.test', 'http://host/@ada', 'https://host/a?b=c@d', 'default/ticket-981', 'a: b@c'])
      expect(withoutCredentials(text)).toBe(text);
  });

  it('stand in no failure of a model, no line of the log, and no error of a command', async () => {
    expect(redact('Request cannot be constructed from a URL that includes credentials: http://ada:geheim@h/v1')).not.toContain('geheim');
    const lines: string[] = [];
    createLogger({ write: (line) => lines.push(line) }).error('no way to http://ada:geheim@h', { error: new Error('http://ada:geheim@h') });
    expect(lines.join('')).not.toContain('geheim');
    const terminal = recordedTerminal({ live: false });
    await findService('http://ada:geheim@h').catch((error: unknown) => reportError(error, terminal, {}));
    reportFailure({ code: 'internal', message: 'at http://ada:geheim@h' }, terminal);
    expect(terminal.written()).toContain('a user or a password');
    expect(terminal.written()).not.toContain('geheim');
  });
});

describe('what the operating system refuses', () => {
  it('is told apart when nothing can listen', async () => {
    await expect(checkPortFree(0, '8.8.8.8')).rejects.toMatchObject(errorOf('config-invalid', /8\.8\.8\.8/));
    await expect(checkPortFree(0, 'no-such-host.invalid')).rejects.toMatchObject({ code: 'config-invalid' });
    await expect(
      startService({
        host: '8.8.8.8',
        port: 0,
        agents: [],
        logger: createLogger({ level: 'silent' }),
        client: {} as never,
        access: {},
      }),
    ).rejects.toMatchObject(errorOf('config-invalid'));
    const failed = (code: string) => listenFailure(Object.assign(new Error(code), { code, syscall: 'listen' }), '127.0.0.1', 80).code;
    expect(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'EMFILE', 'EINVAL'].map(failed)).toEqual([
      'port-in-use',
      'config-invalid',
      'config-invalid',
      'files-exhausted',
      'config-invalid',
    ]);
  });

  it.each([
    ['ENOSPC', 'disk-full'],
    ['EDQUOT', 'disk-full'],
    ['EMFILE', 'files-exhausted'],
    ['ENFILE', 'files-exhausted'],
    ['EROFS', 'config-invalid'],
    ['EACCES', 'config-invalid'],
  ])('has a code that says what to change: %s', (code, named) => {
    const error = new Error('outer', { cause: Object.assign(new Error(`${code}: x`), { code, syscall: 'write', path: '/data/x' }) });
    expect(namedSystemError(error, 'starting')).toMatchObject({ code: named, message: expect.stringContaining('/data/x') as string });
  });

  it('is named when the Temporal server says it, under whatever status', () => {
    for (const code of [2, 13, 14])
      expect(codeOf(withCode(new Error('rpc', { cause: Object.assign(new Error('database or disk is full (13)'), { code }) })))).toBe(
        'disk-full',
      );
    expect(codeOf(withCode(Object.assign(new Error('gone'), { code: 14 })))).toBe('server-unreachable');
  });
});
