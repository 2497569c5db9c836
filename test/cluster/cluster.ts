import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { searchAttributes } from '../../contract/names';
import { findServerBinary } from '../../host/server/server-binary';
import { checkPortFree, isListening } from '../../host/server/free-port';
import type { GuardedProcess } from '../../host/server/guarded-process';
import { startGuarded } from '../../host/server/guarded-process';
import { clusterFlags } from '../../host/server/server-flags';
import { roomForDeployments } from '../support/room-for-deployments';
import { clusterBinaries, run } from './binaries';
import type { Postgres } from './postgres';
import { startPostgres } from './postgres';

/** The first service writes the cluster's facts into the database; two at once would collide. */
const services = ['history', 'matching', 'frontend', 'worker'] as const;
type Service = (typeof services)[number];
type Ports = Readonly<Record<Service, { readonly grpc: number; readonly membership: number }>>;

export type DynamicConfig = Readonly<Record<string, unknown>>;

export const dynamicConfigs: Readonly<Record<'plain' | 'tuned', DynamicConfig>> = { plain: {}, tuned: clusterFlags };

const retentionDays = 30;

/** Temporal's server as four processes on PostgreSQL. Ends with this process, even after a kill. */
export class Cluster {
  private readonly processes: GuardedProcess[] = [];

  private constructor(
    readonly folder: string,
    readonly address: string,
    private readonly postgres: Postgres,
  ) {}

  static async start(dynamicConfig: DynamicConfig): Promise<Cluster> {
    const binaries = await clusterBinaries();
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-cluster-'));
    mkdirSync(join(folder, 'config'));
    const postgres = await startPostgres(join(folder, 'postgres.log'));
    const ports = await freePorts();
    const cluster = new Cluster(folder, `127.0.0.1:${ports.frontend.grpc}`, postgres);
    try {
      for (const [database, schema] of [
        ['temporal', 'temporal'],
        ['temporal_visibility', 'visibility'],
      ] as const) {
        const tool = (...args: string[]): Promise<string> =>
          run(
            binaries.sqlTool,
            [...'--plugin postgres12_pgx --ep 127.0.0.1 -u postgres -p'.split(' '), String(postgres.port), '--db', database, ...args],
            folder,
          );
        await tool('create');
        await tool('setup-schema', '-v', '0.0');
        await tool('update-schema', '-d', join(binaries.schema, schema, 'versioned'));
      }
      writeFileSync(join(folder, 'config', 'cluster.yaml'), JSON.stringify(serverConfig(folder, ports, postgres.port), undefined, 2));
      cluster.configure(dynamicConfig);
      for (const service of services) {
        const args = ['--root', folder, '--config', 'config', '--env', 'cluster', '--allow-no-auth', 'start', '--service', service];
        const started = await startGuarded(binaries.server, args, { logFile: join(folder, `${service}.log`), environment: process.env });
        cluster.processes.push(started);
        if (service === services[0]) await Promise.race([listening(ports[service].grpc), endsTooSoon(started)]);
      }
      await Promise.race([cluster.makeNamespace(), ...cluster.processes.map(endsTooSoon)]);
      return cluster;
    } catch (error) {
      console.error(cluster.lastWords());
      await cluster.stop();
      throw error;
    }
  }

  get pids(): readonly number[] {
    return [...this.processes.map(({ pid }) => pid), this.postgres.pid];
  }

  get postgresPort(): number {
    return this.postgres.port;
  }

  private lastWords(): string {
    const logs = ['postgres', ...services].map((name) => join(this.folder, `${name}.log`)).filter((file) => existsSync(file));
    return logs.map((file) => `${file}\n${readFileSync(file, 'utf8').slice(-2000)}`).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
    await this.postgres.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private configure(dynamicConfig: DynamicConfig): void {
    const values = Object.fromEntries(
      Object.entries({ ...dynamicConfig, ...roomForDeployments }).map(([name, value]) => [name, [{ value }]]),
    );
    writeFileSync(join(this.folder, 'config', 'dynamic.yaml'), JSON.stringify(values));
  }

  private async makeNamespace(): Promise<void> {
    const { path } = await findServerBinary({ environment: process.env, onProgress: (text) => console.log(text) });
    const operator = (...args: string[]): Promise<string> => run(path, ['operator', ...args, '--address', this.address], this.folder);
    await persistently(() => operator('cluster', 'health'));
    await persistently(() => operator('namespace', 'create', '--namespace', 'default', '--retention', `${retentionDays}d`));
    const attributes = Object.entries(searchAttributes).flatMap(([name, type]) => ['--name', name, '--type', type]);
    await persistently(() => operator('search-attribute', 'create', '--namespace', 'default', ...attributes));
    // The services have found each other when a queue and a list of runs can be described.
    const address = ['--address', this.address];
    await persistently(() => run(path, ['task-queue', 'describe', '--task-queue', 'holdfast', ...address], this.folder));
    await persistently(() => run(path, ['workflow', 'list', ...address], this.folder));
  }
}

async function endsTooSoon({ exited, pid }: GuardedProcess): Promise<never> {
  const code = await exited;
  throw new Error(`The process ${pid} of the cluster ended with ${code} before the cluster was up.`);
}

function listening(port: number): Promise<void> {
  return persistently(async () => {
    if (!(await isListening(port))) throw new Error(`Nothing listens on the port ${port} after a minute.`);
  });
}

/** Processes refuse requests for a moment after the start. */
async function persistently<T>(act: () => Promise<T>): Promise<T> {
  const until = Date.now() + 60_000;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > until) throw error;
      await delay(500);
    }
  }
}

function isFree(port: number): Promise<boolean> {
  return checkPortFree(port).then(
    () => true,
    () => false,
  );
}

/** PostgreSQL stores member ports as signed two-byte numbers, so no port above 32,767 fits. */
async function freePorts(): Promise<Ports> {
  const taken = new Set<number>();
  const lowPort = async (): Promise<number> => {
    for (;;) {
      const port = 10_000 + Math.floor(Math.random() * 20_000);
      if (taken.has(port) || !(await isFree(port))) continue;
      taken.add(port);
      return port;
    }
  };
  const entries: [Service, { grpc: number; membership: number }][] = [];
  for (const service of services) entries.push([service, { grpc: await lowPort(), membership: await lowPort() }]);
  return Object.fromEntries(entries) as Ports;
}

function serverConfig(folder: string, ports: Ports, postgresPort: number): unknown {
  const store = (databaseName: string, connections: number): unknown => ({
    sql: {
      pluginName: 'postgres12_pgx',
      databaseName,
      connectAddr: `127.0.0.1:${postgresPort}`,
      connectProtocol: 'tcp',
      user: 'postgres',
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'history',
      visibilityStore: 'visibility',
      numHistoryShards: 64,
      datastores: { history: store('temporal', 20), visibility: store('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      services.map((service) => {
        const { grpc, membership } = ports[service];
        return [service, { rpc: { grpcPort: grpc, membershipPort: membership, bindOnLocalHost: true } }];
      }),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: `127.0.0.1:${ports.frontend.grpc}` },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: join(folder, 'config', 'dynamic.yaml'), pollInterval: '10s' },
  };
}
