import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { connectTemporal } from '../../host/connection';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { beginOwner, processesOfSession, startOwner, untilGone } from './owner-process';
import { temporaryDirectory } from './temporary-directory';

jest.setTimeout(90_000);

async function withClient<T>(server: { address: string; namespace: string }, use: (client: Client) => Promise<T>): Promise<T> {
  const { connection, namespace, close } = await connectTemporal(server);
  try {
    return await use(new Client({ connection, namespace }));
  } finally {
    await close();
  }
}

function deadPid(): number {
  return Number(execFileSync('/bin/sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
}

describe('the server of a directory', () => {
  it.concurrent('is reused by a second process, whose stop leaves it alone', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    const second = await startEmbeddedServer({ directory, namespace: 'another' });
    expect(second).toMatchObject({ reused: true, pid: owner.server.pid, address: owner.server.address, database: owner.server.database });
    await second.stop();
    await withClient(second, (client) => client.connection.workflowService.describeNamespace({ namespace: 'another' }));
    await owner.finish();
    await untilGone(owner.server.pid, 0);
  });

  it.concurrent('is missed by those who reuse it when its owner is killed with -9', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    const lost = new Promise<void>((resolve, reject) => {
      startEmbeddedServer({ directory, onLost: resolve }).then(() => owner.murder(), reject);
    });
    await lost;
    await untilGone(owner.server.pid, 0);
  });

  it.concurrent('is not missed by those who have stopped to use it', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    const missed: string[] = [];
    const stopped = await startEmbeddedServer({ directory, onLost: () => missed.push('stopped') });
    await stopped.stop();
    const lost = new Promise<void>((resolve, reject) => {
      startEmbeddedServer({ directory, onLost: resolve }).then(() => owner.finish(), reject);
    });
    await lost;
    expect(missed).toEqual([]);
  });

  it.concurrent('is one, when three start it at the same time', async () => {
    const directory = temporaryDirectory();
    const [first, second, third] = await Promise.all([
      startOwner({ directory }),
      startOwner({ directory }),
      startEmbeddedServer({ directory }),
    ]);
    const servers = [first.server, second.server, third];
    expect(new Set(servers.map((server) => server.pid)).size).toBe(1);
    expect(servers.filter((server) => !server.reused)).toHaveLength(1);
    await Promise.all([first.finish(), second.finish(), third.stop()]);
    await untilGone(third.pid, 0);
  });

  it.concurrent('starts over the record of one that is gone, also where another server answers at its address', async () => {
    const [directory, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
    await (await startEmbeddedServer({ directory })).stop();
    const stranger = await startEmbeddedServer({ directory: elsewhere });
    const { database, version } = stranger;
    const record = {
      ...stranger,
      clusterId: 'gone',
      pid: deadPid(),
      ownerPid: process.pid,
      directory,
      database: basename(database),
      version,
    };
    for (const address of [stranger.address, '127.0.0.1:1']) {
      writeFileSync(join(directory, 'server.json'), JSON.stringify({ ...record, address }));
      const server = await startEmbeddedServer({ directory });
      expect(server.reused).toBe(false);
      expect(server.address).not.toBe(stranger.address);
      await server.stop();
    }
    await stranger.stop();
  });

  it.concurrent('dies when its owner is killed with -9, and a restart on its file knows the same runs', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    const runId = await withClient(owner.server, async (client) => {
      const handle = await client.workflow.start('nobody', {
        workflowId: 'kept',
        taskQueue: 'empty',
        searchAttributes: { HoldfastAgent: ['support'] },
      });
      return handle.firstExecutionRunId;
    });
    await owner.murder();
    const restarted = await startEmbeddedServer({ directory });
    await untilGone(owner.server.pid, 0);
    expect(restarted).toMatchObject({ reused: false, database: owner.server.database });
    expect(await withClient(restarted, async (client) => (await client.workflow.getHandle('kept').describe()).runId)).toBe(runId);
    await restarted.stop();
  });

  it.concurrent('keeps its runs when both it and its owner are killed with -9', async () => {
    const directory = temporaryDirectory();
    const owner = await startOwner({ directory });
    await withClient(owner.server, (client) => client.workflow.start('nobody', { workflowId: 'kept', taskQueue: 'empty' }));
    process.kill(owner.server.pid, 'SIGKILL');
    await owner.murder();
    const restarted = await startEmbeddedServer({ directory });
    expect(await withClient(restarted, async (client) => (await client.workflow.getHandle('kept').describe()).status.name)).toBe('RUNNING');
    await restarted.stop();
  });

  // test/nightly/alone measures the time.
  it('leaves no process behind when its owner is killed', async () => {
    const owner = await startOwner({ directory: temporaryDirectory() });
    const family = processesOfSession(owner.server.pid);
    expect(family.length).toBe(2);
    await owner.murder();
    await Promise.all(family.map((pid) => untilGone(pid)));
  });

  it.concurrent('gets a new database with another server version, and says so', async () => {
    const directory = temporaryDirectory();
    const yesterday = join(directory, 'runs-1.20.0.db');
    writeFileSync(yesterday, 'of another version');
    const said: string[] = [];
    const server = await startEmbeddedServer({ directory, onProgress: (message) => said.push(message) });
    expect(server.database).toBe(join(directory, `runs-${server.version}.db`));
    expect(said.join('\n')).toContain('runs-1.20.0.db');
    expect(readFileSync(yesterday, 'utf8')).toBe('of another version');
    await server.stop();
  });

  it.concurrent('has no half-made database, whenever the process that makes it is killed', async () => {
    const directory = temporaryDirectory();
    const made = (): boolean => readdirSync(directory).some((name) => name.includes('.db.new-'));
    const owner = beginOwner({ directory });
    while (!made()) await sleep(1);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(readdirSync(directory).filter((name) => name.endsWith('.db'))).toEqual([]);
    const server = await startEmbeddedServer({ directory });
    expect(made()).toBe(false);
    await server.stop();
  });
});
