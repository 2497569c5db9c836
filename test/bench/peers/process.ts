import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { nodeOfPeers } from './install';
import type { ChildSetup, Command, Reply } from './protocol';

type Done = Extract<Reply, { ok: true }>;

export class PeerProcess {
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;

  constructor(setup: ChildSetup) {
    this.child = fork(join(__dirname, 'child.js'), [JSON.stringify(setup)], {
      execPath: nodeOfPeers,
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, LANGSMITH_TRACING: 'false', MASTRA_TELEMETRY_DISABLED: '1', OPENAI_AGENTS_DISABLE_TRACING: '1' },
    });
    this.exited = once(this.child, 'exit');
  }

  /** One command at a time. */
  async do(command: Command): Promise<Done> {
    const replied = once(this.child, 'message') as Promise<[Reply]>;
    this.child.send(command);
    const reply = await Promise.race([replied.then(([one]) => one), this.exited.then(() => undefined)]);
    if (reply === undefined) throw new Error(`The process ended during '${command.do}'.`);
    if (!reply.ok) throw new Error(reply.problem);
    return reply;
  }

  async close(): Promise<void> {
    await this.do({ do: 'close' }).catch((error: unknown) => console.error(error));
    await this.kill();
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
