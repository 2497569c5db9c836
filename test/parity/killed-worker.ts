import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { CallContext } from '../../activities/calls/call-context';
import { messageOf } from '../../contract/errors';
import type { TemporalSettings } from '../../host/connection';
import type { Line } from './plays';
import { tellHere } from './plays';
import type { Said } from './script';

export interface WorkerProcessSettings {
  readonly server: TemporalSettings;
  readonly bundle: string;
  readonly bundles: string;
  readonly taskQueue: string;
  readonly maxCachedRuns?: number;
  /** Most milliseconds before and after a call reports. Default: 0. */
  readonly paceMs?: number;
}

interface Told {
  readonly id: number;
  readonly call: CallContext;
  readonly line: Line;
}

export interface Heard {
  readonly id: number;
  readonly said?: Said;
  readonly problem?: string;
}

// Processes run compiled files, even when the test runs the source.
const folder = extname(__filename) === '.js' ? __dirname : join(__dirname, '..', '..', 'dist', 'test', 'parity');

export class KilledWorker {
  kills = 0;
  private child: ChildProcess;
  private ready: Promise<unknown>;
  private killing: Promise<void> | undefined;
  private closed = false;
  private stopped = false;
  /** Absent: the worker is starting. */
  private readyAt: number | undefined;

  constructor(private readonly settings: WorkerProcessSettings) {
    [this.child, this.ready] = this.start();
  }

  get disturbedAt(): number {
    return (this.killing === undefined ? this.readyAt : undefined) ?? Date.now();
  }

  get works(): boolean {
    return this.killing === undefined && !this.stopped && !this.hasEnded && this.readyAt !== undefined;
  }

  /** Whether the process ended without a kill. */
  get hasEnded(): boolean {
    return this.killing === undefined && (this.child.exitCode !== null || this.child.signalCode !== null);
  }

  async stop(ms: number): Promise<void> {
    await this.killing;
    await this.ready;
    const { child } = this;
    this.stopped = true;
    child.kill('SIGSTOP');
    await setTimeout(ms);
    child.kill('SIGCONT');
    this.stopped = false;
  }

  async replaced(): Promise<void> {
    await this.killing;
    await this.ready;
  }

  kill(): void {
    this.killing ??= this.replace();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.killing;
    await this.ready;
    await this.end();
  }

  private async replace(): Promise<void> {
    await this.ready;
    if (this.closed) return;
    this.kills += 1;
    await this.end();
    [this.child, this.ready] = this.start();
    this.killing = undefined;
  }

  private async end(): Promise<void> {
    const { child } = this;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
    child.kill('SIGKILL');
    await gone;
  }

  private start(): [ChildProcess, Promise<unknown>] {
    const child = fork(join(folder, 'worker-process.js'), [JSON.stringify(this.settings)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.readyAt = undefined;
    const ready = new Promise((resolve) => {
      child.once('exit', () => resolve((this.readyAt ??= Date.now())));
      child.on('message', (message: Told | 'ready') =>
        message === 'ready' ? resolve((this.readyAt = Date.now())) : void this.hear(child, message),
      );
    });
    return [child, ready];
  }

  private async hear(child: ChildProcess, { id, call, line }: Told): Promise<void> {
    let heard: Heard;
    try {
      const said = await tellHere(call, line);
      heard = said === undefined ? { id } : { id, said };
    } catch (error) {
      heard = { id, problem: messageOf(error) };
    }
    if (child.connected) child.send(heard, () => undefined);
  }
}
