import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findServerBinary } from '../../host/server/server-binary';
import { temporaryDirectory } from './temporary-directory';

jest.setTimeout(60_000);

function bareEnvironment(variables: Record<string, string> = {}): Record<string, string> {
  const directory = temporaryDirectory();
  const refused = 'http://127.0.0.1:9';
  return {
    PATH: join(directory, 'bin'),
    HOME: directory,
    XDG_CACHE_HOME: join(directory, 'cache'),
    HTTPS_PROXY: refused,
    https_proxy: refused,
    HTTP_PROXY: refused,
    http_proxy: refused,
    ...variables,
  };
}

function script(path: string, ...lines: string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
}

const cliSays = (server: string) => `echo "temporal version 1.9.1 (Server ${server}, UI 2.42.1)"`;
const find = (environment: Record<string, string>, said: string[] = []) =>
  findServerBinary({ environment, onProgress: (message) => said.push(message) });

describe('the server binary', () => {
  it('is the one that HOLDFAST_TEMPORAL_CLI names, and no other when that one does not work', async () => {
    const environment = bareEnvironment();
    script(join(environment.PATH ?? '', 'temporal'), cliSays('1.31.0'));
    const named = join(environment.HOME ?? '', 'named');
    script(named, cliSays('1.30.0'));
    expect(await find({ ...environment, HOLDFAST_TEMPORAL_CLI: named })).toEqual({
      path: named,
      origin: 'configured',
      serverVersion: '1.30.0',
    });
    await expect(find({ ...environment, HOLDFAST_TEMPORAL_CLI: '/nowhere/temporal' })).rejects.toMatchObject({
      code: 'server-unavailable',
      message: expect.stringContaining('/nowhere/temporal'),
    });
  });

  it('is the one on the PATH before the one in the cache', async () => {
    const environment = bareEnvironment();
    const cached = join(environment.XDG_CACHE_HOME ?? '', 'holdfast', 'bin', 'temporal-3');
    script(cached, cliSays('1.30.0'));
    expect(await find(environment)).toMatchObject({ origin: 'cache', path: cached });
    const installed = join(environment.PATH ?? '', 'temporal');
    script(installed, cliSays('1.20.0'));
    expect(await find(environment)).toMatchObject({ origin: 'cache' });
    script(installed, cliSays('1.31.0'));
    expect(await find(environment)).toMatchObject({ origin: 'path', path: installed, serverVersion: '1.31.0' });
  });

  it('is built where there is Go, and then in the cache, also when two processes need it at the same time', async () => {
    const environment = bareEnvironment();
    const log = join(environment.HOME ?? '', 'builds');
    const built = join(environment.HOME ?? '', 'built');
    script(built, cliSays('1.29.1'));
    script(
      join(environment.PATH ?? '', 'go'),
      'if [ "$1" = version ]; then echo "go version go1.26.1 linux/amd64"; exit; fi',
      `echo "$*" >> "${log}"`,
      `/bin/cat go.mod >> "${log}"`,
      `/bin/cp "${built}" temporal`,
    );
    const said: string[] = [];
    const [first, second] = await Promise.all([find(environment, said), find(environment, said)]);
    expect([first, second, await find(environment)].map(({ origin }) => origin)).toEqual(['build', 'build', 'cache']);
    const [command, ...module] = readFileSync(log, 'utf8').split('\n');
    expect(command).toBe('build -mod=mod -ldflags=-s -w -o temporal github.com/temporalio/cli/cmd/temporal');
    expect(module.map((line) => line.trim())).toEqual(
      expect.arrayContaining(['github.com/temporalio/cli v1.5.1', 'modernc.org/sqlite v1.51.0']),
    );
    expect(readdirSync(dirname(first.path))).toEqual(['temporal-3']);
    expect(said.join('\n')).toContain('Building the Temporal server with Go 1.26.1');
  });

  it('is missed with an error that names all ways', async () => {
    const environment = bareEnvironment();
    script(join(environment.PATH ?? '', 'go'), 'echo "go version go1.22.0 linux/amd64"');
    const error = (await find(environment).catch((thrown: unknown) => thrown)) as { code: string; message: string };
    expect(error.code).toBe('server-unavailable');
    for (const way of ['on the PATH', 'cache', 'download', 'go build', '1.22.0', 'HOLDFAST_TEMPORAL_CLI', 'TEMPORAL_ADDRESS'])
      expect(error.message).toContain(way);
    expect(existsSync(join(environment.XDG_CACHE_HOME ?? '', 'holdfast', 'bin', 'temporal-3'))).toBe(false);
  });
});
