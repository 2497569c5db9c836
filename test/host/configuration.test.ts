import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { configurationTable, readConfiguration } from '../../host/configuration';
import { temporaryDirectory } from './temporary-directory';

function environment(variables: Record<string, string> = {}): Record<string, string> {
  const home = temporaryDirectory();
  return { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), ...variables };
}

function profileFile(text: string): string {
  const file = join(temporaryDirectory(), 'temporal.toml');
  writeFileSync(file, text);
  return file;
}

describe('the configuration', () => {
  it('has the defaults of the table, and no server, in an empty environment', () => {
    expect(readConfiguration(environment())).toEqual({
      directory: resolve(configurationTable.HOLDFAST_DIR.default),
      host: '127.0.0.1',
      port: 4747,
      url: configurationTable.HOLDFAST_URL.default,
      taskQueue: 'holdfast',
      tenant: 'default',
      logLevel: 'info',
      logFormat: 'text',
      namespace: 'default',
      server: undefined,
      maxCachedRuns: undefined,
    });
  });

  it('takes an empty variable as one that is not set', () => {
    const file = profileFile('[profile.default]\naddress = "cluster:7233"\n');
    const read = readConfiguration(environment({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_ADDRESS: '', HOLDFAST_PORT: '' }));
    expect(read.server?.address).toBe('cluster:7233');
    expect(read.port).toBe(4747);
  });

  it('names a server only when an address is given', () => {
    expect(readConfiguration(environment({ TEMPORAL_NAMESPACE: 'agents' }))).toMatchObject({ namespace: 'agents', server: undefined });
    const file = profileFile('[profile.default]\nnamespace = "agents"\n');
    expect(readConfiguration(environment({ TEMPORAL_CONFIG_FILE: file }))).toMatchObject({ namespace: 'agents', server: undefined });
    expect(readConfiguration(environment({ TEMPORAL_ADDRESS: 'cluster:7233' })).server).toEqual({
      address: 'cluster:7233',
      namespace: 'default',
    });
  });

  it("finds the profile in Temporal's usual place, and lets a variable win over it", () => {
    const variables = environment({ TEMPORAL_NAMESPACE: 'mine' });
    const folder =
      process.platform === 'darwin'
        ? join(variables.HOME ?? '', 'Library', 'Application Support', 'temporalio')
        : join(variables.XDG_CONFIG_HOME ?? '', 'temporalio');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'temporal.toml'), '[profile.default]\naddress = "usual:7233"\nnamespace = "theirs"\n');
    expect(readConfiguration(variables).server).toEqual({ address: 'usual:7233', namespace: 'mine' });
  });

  it('reads a named profile with key, TLS and headers', () => {
    const file = profileFile(
      '[profile.cloud]\naddress = "cloud:7233"\napi_key = "secret"\n[profile.cloud.tls]\nserver_ca_cert_data = "PEM"\nserver_name = "cloud.test"\n[profile.cloud.grpc_meta]\nteam = "agents"\n',
    );
    const { server } = readConfiguration(environment({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'cloud' }));
    expect(server).toMatchObject({
      address: 'cloud:7233',
      apiKey: 'secret',
      metadata: { team: 'agents' },
      tls: { serverNameOverride: 'cloud.test' },
    });
    expect(Buffer.from((server?.tls as { serverRootCACertificate: Uint8Array }).serverRootCACertificate).toString()).toBe('PEM');
  });

  it('turns TLS on with a key, and leaves it off when told so', () => {
    expect(readConfiguration(environment({ TEMPORAL_ADDRESS: 'a:1', TEMPORAL_API_KEY: 'k' })).server).toMatchObject({ tls: true });
    expect(readConfiguration(environment({ TEMPORAL_ADDRESS: 'a:1', TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'false' })).server).toMatchObject({
      tls: false,
    });
  });

  it('makes the URL of the service from its host and port', () => {
    expect(readConfiguration(environment({ HOLDFAST_HOST: '0.0.0.0', HOLDFAST_PORT: '80' })).url).toBe('http://127.0.0.1:80');
    expect(readConfiguration(environment({ HOLDFAST_HOST: '::', HOLDFAST_PORT: '80' })).url).toBe('http://[::1]:80');
    expect(readConfiguration(environment({ HOLDFAST_URL: 'https://agents.example/base/' })).url).toBe('https://agents.example/base');
  });

  it.each([
    [{ HOLDFAST_PORT: '70000' }, '0 to 65535'],
    [{ HOLDFAST_LOG_LEVEL: 'loud' }, 'trace, debug, info'],
    [{ HOLDFAST_URL: 'localhost' }, 'http://'],
    [{ TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' }, '/nowhere/temporal.toml'],
    [{ TEMPORAL_PROFILE: 'absent' }, 'absent'],
    [{ TEMPORAL_TLS_CLIENT_CERT_PATH: 'cert.pem' }, 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
    [{ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' }, 'no effect'],
    [{ TEMPORAL_ADDRESS: 'a:1', TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.pem' }, '/nowhere/ca.pem'],
  ])('refuses %j and says why', (variables, part) => {
    expect(() => readConfiguration(environment(variables as Record<string, string>))).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining(part) }),
    );
  });

  it('does not repeat a key from a broken profile in its message', () => {
    const file = profileFile('[profile.default]\napi_key = "very-secret\n');
    expect(() => readConfiguration(environment({ TEMPORAL_CONFIG_FILE: file }))).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.not.stringContaining('very-secret') }),
    );
  });
});
