import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jsonSchema } from '@ai-sdk/provider-utils';
import type { ConnectionLike } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { z } from 'zod';
import { checkClock } from '../../../cli/doctor/clock';
import { doctor } from '../../../cli/doctor/doctor';
import type { Finding } from '../../../cli/doctor/finding';
import { checkDirectory, checkNode, checkPackages } from '../../../cli/doctor/machine';
import { checkConfiguration, checkEnvironment, checkModels, checkPatterns } from '../../../cli/doctor/project';
import { checkRedis, checkServicePort } from '../../../cli/doctor/reach';
import { checkConnected, checkServer } from '../../../cli/doctor/server';
import { searchAttributes } from '../../../contract/names';
import { readConfiguration } from '../../../host/configuration';
import { indexedValueTypes } from '../../../host/search-attributes';
import { freePort } from '../../../host/server/free-port';
import { recordService } from '../../../cli/processes/service-record';
import { recordedTerminal } from '../../support/recorded-terminal';

const root = resolve(__dirname, '..', '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const fresh = (files: Readonly<Record<string, string>> = {}): string => {
  const directory = join(folder, `place-${made++}`);
  mkdirSync(directory);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
};
const problem = (code: string, message: string) => ({
  status: 'problem',
  code,
  message: expect.stringContaining(message),
  fix: expect.any(String),
});
const warning = (code: string, message: string) => ({ ...problem(code, message), status: 'warning' });
const ok = { status: 'ok' };

describe('doctor on Node', () => {
  const range = '^20.19.0 || ^22.12.0 || ^24.0.0 || >=26.0.0';
  it.each(['20.19.0', '20.20.2', '22.12.0', '24.1.0', '26.0.0', '27.3.1'])('takes %s', (version) => {
    expect(checkNode(version, range)).toMatchObject(ok);
  });
  it.each(['18.20.0', '20.18.9', '21.7.0', '22.11.0', '23.0.0', '25.9.0'])('refuses %s', (version) => {
    expect(checkNode(version, range)).toMatchObject(problem('node-unsupported', `Node ${version} is not one of ${range}.`));
  });
});

describe('doctor on packages', () => {
  const manifest = (version: string, dependencies = {}): string => JSON.stringify({ name: 'x', version, dependencies });
  const holdfast = (installed: Readonly<Record<string, string>>): string =>
    fresh({
      'package.json': manifest('0.1.0', { zod: '4.6.7' }),
      ...Object.fromEntries(Object.entries(installed).map(([name, version]) => [`node_modules/${name}/package.json`, manifest(version)])),
    });

  it('finds those of this repository as they should be', () => {
    expect(checkPackages(root, root)).toMatchObject(ok);
  });
  it.each([
    ['another version', { zod: '3.0.0' }, 'zod is 3.0.0 and must be 4.6.7'],
    ['a missing package', {}, 'zod is missing and must be 4.6.7'],
  ])('finds %s', (_, installed, message) => {
    const place = holdfast(installed);
    expect(checkPackages(place, place)).toMatchObject(problem('packages-differ', message));
  });
  it('finds another Holdfast in the project', () => {
    const place = holdfast({ zod: '4.6.7' });
    const project = fresh({ 'node_modules/holdfast/package.json': manifest('0.0.9') });
    expect(checkPackages(place, place)).toMatchObject(ok);
    expect(checkPackages(place, project)).toMatchObject(problem('packages-differ', 'the project has Holdfast 0.0.9'));
  });
  it("finds a second copy of Temporal's SDK in the project, also of the same version", () => {
    const project = fresh({ 'node_modules/@temporalio/client/package.json': manifest('1.24.0') });
    const place = fresh({
      'package.json': manifest('0.1.0', { '@temporalio/client': '1.24.0' }),
      'node_modules/@temporalio/client/package.json': manifest('1.24.0'),
    });
    const message = `@temporalio/client is there twice: 1.24.0 in ${join(project, 'node_modules/@temporalio/client')} and 1.24.0 in ${place}`;
    expect(checkPackages(place, place)).toMatchObject(ok);
    expect(checkPackages(place, project)).toMatchObject(problem('packages-differ', message));
  });
  it.each(['@temporalio/common', '@temporalio/proto'])('finds a protobufjs of its own under %s', (name) => {
    const place = fresh({
      'package.json': manifest('0.1.0', { [name]: '1.24.0', protobufjs: '8.8.1' }),
      [`node_modules/${name}/package.json`]: manifest('1.24.0'),
      'node_modules/protobufjs/package.json': manifest('8.8.1'),
    });
    expect(checkPackages(place, place)).toMatchObject(ok);
    const copy = join(place, 'node_modules', name, 'node_modules/protobufjs');
    mkdirSync(copy, { recursive: true });
    writeFileSync(join(copy, 'package.json'), manifest('8.8.1'));
    const message = `protobufjs is there twice: 8.8.1 in ${copy} and 8.8.1 in `;
    expect(checkPackages(place, place)).toMatchObject(problem('packages-differ', message));
  });
});

describe('doctor on the environment', () => {
  it('takes one in which nothing is set', () => {
    expect(checkEnvironment({}).findings).toMatchObject([ok]);
  });
  it('finds a value that is none, and a key that no request can have', () => {
    expect(checkEnvironment({ HOLDFAST_PORT: 'x' }).findings).toMatchObject([problem('config-invalid', "HOLDFAST_PORT is 'x'")]);
    const [unfit] = checkEnvironment({ OPENAI_API_KEY: 'secret\nkey' }).findings;
    expect(unfit).toMatchObject(problem('config-invalid', 'OPENAI_API_KEY'));
    expect(unfit?.message).not.toContain('secret');
  });
  it('warns of a name that nothing reads', () => {
    expect(checkEnvironment({ HOLDFAST_PROT: '1' }).findings).toMatchObject([warning('config-invalid', 'HOLDFAST_PROT has no effect')]);
  });
});

describe('doctor on the project', () => {
  const example = join(root, 'examples', 'support', 'holdfast.config.ts');
  const config = `export default { agents: './agents.ts' };`;
  const agents = `import { defineAgent } from 'holdfast/workflow';\nexport const a = defineAgent({ name: 'a', description: 'A.', instructions: '', model: 'openai/x', tools: [] });`;

  it('reads one that is whole', async () => {
    const { findings, value } = await checkConfiguration(example, folder);
    expect(findings).toMatchObject([ok]);
    expect(value?.models).toEqual(['default']);
  });
  it('finds that there is none, and what is wrong with an agent', async () => {
    expect((await checkConfiguration(undefined, fresh())).findings).toMatchObject([
      problem('config-not-found', 'There is no holdfast.config.ts'),
    ]);
    const place = fresh({ 'holdfast.config.ts': config, 'agents.ts': agents.replace('tools: []', `tools: ['pay']`) });
    expect((await checkConfiguration(undefined, place)).findings).toMatchObject([problem('tool-unknown', 'names the tool "pay"')]);
  });
  const models = (names: readonly string[], environment = {}): readonly Finding[] =>
    checkModels({ config: { agents: '', models: { names: { fast: 'openai/x', default: ['openai/x'] } } }, models: names }, environment);
  it('finds the key of each model', () => {
    expect(models(['fast', 'default', 'openai/y'], { OPENAI_API_KEY: 'k' })).toMatchObject([ok, ok, ok]);
  });
  it('finds a missing key, which is a warning where dev has the demo model', () => {
    expect(models(['fast', 'openai/y'])).toMatchObject([
      problem('model-key-missing', 'OPENAI_API_KEY'),
      problem('model-key-missing', 'OPENAI_API_KEY'),
    ]);
    const noKey = {
      ...warning('model-key-missing', '`holdfast dev` answers with the demo model'),
      fix: 'Set OPENAI_API_KEY for a real one.',
    };
    expect(models(['default'])).toMatchObject([noKey]);
    const noName = {
      ...warning('model-key-missing', '`models.names.default` names none'),
      fix: 'Name a real one as `default` in `models.names`.',
    };
    expect(checkModels({ config: { agents: '' }, models: ['default'] }, {})).toMatchObject([noName]);
  });
  it('warns of patterns that are checked on a bounded length only', () => {
    const schema = (pattern: string) => ({ type: 'object', properties: { pattern: { type: 'string', pattern } } });
    const patterns = (schemas: readonly unknown[]) =>
      checkPatterns({
        config: { agents: '', tools: { pay: { inputSchema: schemas[0] } }, outputs: { report: schemas[1] } },
        agents: [{ name: 'a', description: '', takesJob: true, inputSchema: schemas[2] as never }],
      });
    expect(patterns([schema('^a+$'), z.string().regex(/(?=a)/), { const: { pattern: '(?=a)' } }])).toMatchObject([ok]);
    expect(patterns([schema('(?=a)'), jsonSchema(schema('(?!b)') as never), { patternProperties: { '(c)\\1': {} } }])).toMatchObject([
      warning('config-invalid', 'The schema of the tool "pay" has the pattern "(?=a)". It has look-around'),
      warning('config-invalid', 'The schema of the output "report" has the pattern "(?!b)"'),
      warning('config-invalid', 'The schema of the agent "a" has the pattern "(c)\\1"'),
    ]);
  });
});

describe('doctor on the directory', () => {
  it('takes one that is still to be made', () => {
    expect(checkDirectory(join(folder, 'not', 'yet'))).toMatchObject(ok);
  });
  it('finds a file in its place', () => {
    const file = join(fresh({ data: '' }), 'data');
    expect(checkDirectory(file)).toMatchObject(problem('config-invalid', `${file} is a file`));
  });
});

describe('doctor on ports', () => {
  it('takes a free one, and one that the service of this directory has', async () => {
    const port = await freePort();
    expect(await checkServicePort(folder, { host: '127.0.0.1', port })).toMatchObject(ok);
    expect(await checkServicePort(folder, { host: '127.0.0.1', port: 0 })).toMatchObject(ok);
  });
  it('finds one that is taken, unless it is the service of this directory', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    const { port } = server.address() as AddressInfo;
    const place = fresh();
    expect(await checkServicePort(place, { host: '127.0.0.1', port })).toMatchObject(
      problem('port-in-use', `The port ${port} of 127.0.0.1 is taken by another process.`),
    );
    const forget = recordService(place, `http://127.0.0.1:${port}`);
    expect(await checkServicePort(place, { host: '127.0.0.1', port })).toMatchObject(ok);
    forget();
    server.close();
  });
  it('finds a Redis that does not answer, without its password', async () => {
    const found = await checkRedis({ redisUrl: `redis://user:secret@127.0.0.1:${await freePort()}`, directory: folder });
    expect(found).toMatchObject([problem('limits-not-shared', 'ECONNREFUSED')]);
    expect(JSON.stringify(found)).not.toContain('secret');
  });
  it('warns of a service without a worker and without Redis', async () => {
    const [directory, redisUrl] = [fresh(), undefined];
    expect(await checkRedis({ redisUrl, directory })).toEqual([]);
    const forget = recordService(directory, 'http://127.0.0.1:7000');
    expect(await checkRedis({ redisUrl, directory })).toMatchObject([warning('deltas-not-shared', 'readers get whole messages')]);
    recordService(directory, 'http://127.0.0.1:7000', { agentsFile: 'agents.ts', taskQueue: 'own' });
    expect(await checkRedis({ redisUrl, directory })).toEqual([]);
    forget();
  });
});

describe('doctor on the server', () => {
  const nowhere = async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
  it('finds one that does not answer', async () => {
    const environment = await nowhere();
    expect(await checkServer(readConfiguration(environment), environment)).toMatchObject([
      { check: 'server', ...problem('server-unreachable', environment.TEMPORAL_ADDRESS) },
    ]);
  });
  it('warns where no server runs and no binary is here', async () => {
    const environment = { HOLDFAST_DIR: folder, HOLDFAST_TEMPORAL_CLI: join(folder, 'none') };
    expect(await checkServer(readConfiguration(environment), environment)).toMatchObject([
      warning('server-unavailable', 'downloads or builds'),
    ]);
  });

  function serverWith({
    version = '1.29.1',
    attributes = Object.keys(searchAttributes),
    days = 30,
    aheadMs = 0,
    polls = true,
  }): ConnectionLike {
    const types = Object.fromEntries(
      attributes.map((name) => [name, indexedValueTypes[searchAttributes[name as keyof typeof searchAttributes]]]),
    );
    let polled: { identity: string; lastAccessTime: unknown } | undefined;
    let end: () => void = () => undefined;
    return {
      options: {},
      withDeadline: (_: unknown, work: () => unknown) => work(),
      withAbortSignal: (signal: AbortSignal, work: () => unknown) => {
        signal.addEventListener('abort', () => end());
        return work();
      },
      operatorService: { listSearchAttributes: async () => ({ customAttributes: types }) },
      workflowService: {
        getSystemInfo: async () => ({ serverVersion: version }),
        describeNamespace: async () => ({ config: { workflowExecutionRetentionTtl: msToTs(days * 86_400_000) } }),
        pollActivityTaskQueue({ identity }: { identity: string }) {
          if (!polls) return Promise.reject(new Error('No polls here.'));
          polled = { identity, lastAccessTime: msToTs(Date.now() + aheadMs) };
          return new Promise<void>((resolve) => (end = resolve));
        },
        describeTaskQueue: async () => {
          if (!polls) throw new Error('No task queues here.');
          return { pollers: polled === undefined ? [] : [polled] };
        },
      },
    } as unknown as ConnectionLike;
  }
  const check = (given: Parameters<typeof serverWith>[0]): Promise<readonly Finding[]> =>
    checkConnected(serverWith(given), { address: 'there:7233', namespace: 'default' });

  it('takes one that has all', async () => {
    expect(await check({})).toMatchObject(['server', 'namespace', 'retention', 'clock'].map((name) => ({ check: name, ...ok })));
  });
  it.each<[string, Parameters<typeof serverWith>[0], number, object]>([
    ['is too old', { version: '1.28.3' }, 0, problem('server-outdated', 'is 1.28.3. Holdfast needs 1.29 or newer')],
    ['does not say its version', { version: '' }, 0, problem('server-outdated', 'of an unknown version')],
    [
      'lacks search attributes',
      { attributes: ['HoldfastAgent'] },
      1,
      problem('search-attribute-missing', 'temporal operator search-attribute create'),
    ],
    ['keeps runs for too short', { days: 1 }, 2, warning('retention-short', '1 day')],
    ['is behind this machine', { aheadMs: -10_000 }, 3, warning('clock-differs', 's ahead of that of the server')],
    ['is ahead of this machine', { aheadMs: 120_000 }, 3, problem('clock-differs', 's behind that of the server')],
    ['does not let itself be asked for the time', { polls: false }, 3, warning('clock-differs', 'No task queues here.')],
  ])('finds one that %s', async (_, given, position, expected) => {
    const findings = await check(given);
    expect(findings[position]).toMatchObject(expected);
    expect(findings.filter(({ status }) => status !== 'ok')).toHaveLength(1);
  });
  it('measures the clock by that of this machine', async () => {
    expect(await checkClock(serverWith({}), 'default', () => Date.now() + 90_000)).toMatchObject(problem('clock-differs', 's ahead of'));
  });
});

describe('holdfast doctor', () => {
  const environment = { HOLDFAST_DIR: fresh(), HOLDFAST_PORT: '0', HOLDFAST_TEMPORAL_CLI: join(folder, 'none') };

  it('prints a line for each check with code and fix, and ends with 1 if there is a problem', async () => {
    const terminal = recordedTerminal({ live: false });
    expect(await doctor(terminal, { config: join(folder, 'none.ts') }, environment)).toBe(1);
    const said = terminal.written();
    expect(said).toMatch(/^ok {7}node /);
    expect(said).toMatch(
      /\nproblem {2}configuration {2}config-not-found: .*\n {24}fix: Make a project with `npx holdfast init`, create holdfast.config.ts/,
    );
    expect(said).toMatch(/\nwarning {2}server {9}server-unavailable: /);
    expect(said).toMatch(/\n1 problem, 1 warning\.\n$/);
  });
});
