import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { connectTemporal } from '../../host/connection';
import { recordedServerRuns } from '../../host/server/server-record';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { processesOfSession, startOwner, untilGone } from './owner-process';
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
    await expect(startEmbeddedServer({ directory, database: 'memory', shareable: true })).rejects.toMatchObject({ code: 'server-locked' });
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

  it.concurrent('starts over the lock and the record of dead processes', async () => {
    const directory = temporaryDirectory();
    const dead = deadPid();
    writeFileSync(join(directory, 'server.lock'), JSON.stringify({ pid: dead, host: hostname(), token: 'old' }));
    const record = {
      pid: process.pid,
      ownerPid: process.pid,
      address: '127.0.0.1:1',
      version: '1.29.1',
      database: 'runs-1.29.1.db',
      directory,
      ready: true,
    };
    writeFileSync(join(directory, 'server.json'), JSON.stringify(record));
    const server = await startEmbeddedServer({ directory });
    expect(server.reused).toBe(false);
    await server.stop();
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

  it('is known by its id and its whole port', async () => {
    const { pid = 0 } = spawn('/bin/sh', ['-c', 'read -r _', 'server', 'start-dev', '--port', '12345', '--headless']);
    try {
      const runs = (port: string): Promise<boolean> => recordedServerRuns({ pid, address: `127.0.0.1:${port}` });
      expect([await runs('12345'), await runs('1234'), await runs('2345')]).toEqual([true, false, false]);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  // How long that may take is measured in test/nightly/alone.
  it('leaves no process behind when its owner is killed', async () => {
    const owner = await startOwner({ directory: temporaryDirectory() });
    const family = processesOfSession(owner.server.pid);
    expect(family.length).toBe(3);
    await owner.murder();
    await Promise.all(family.map((pid) => untilGone(pid)));
  });

  it('ends its guard when it ends itself', async () => {
    const owner = await startOwner({ directory: temporaryDirectory() });
    const family = processesOfSession(owner.server.pid);
    process.kill(owner.server.pid, 'SIGKILL');
    await Promise.all(family.map((pid) => untilGone(pid)));
    await owner.finish();
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

  it.concurrent('begins a database anew whose first start was never finished', async () => {
    const directory = temporaryDirectory();
    const first = await startEmbeddedServer({ directory });
    const database = first.database ?? '';
    await first.stop();
    writeFileSync(database, '');
    writeFileSync(`${database}.first-start`, '');
    const second = await startEmbeddedServer({ directory });
    expect(existsSync(`${database}.first-start`)).toBe(false);
    await second.stop();
  });
});
