import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { ready, run } from '../product/package-bed';

const root = resolve(__dirname, '..', '..');
const keys = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_|^npm_/;
const environment = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name))), NO_COLOR: '1' };

export interface ClientFiles {
  readonly scripts: readonly string[];
  readonly linked?: readonly string[];
  readonly install?: readonly string[];
}

export class DevWithClients {
  private readonly folder: string;
  private service: ChildProcess | undefined;
  url = '';

  constructor(name: string) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), `holdfast-${name}-`)));
  }

  get clients(): string {
    return join(this.folder, 'clients');
  }

  private get project(): string {
    return join(this.folder, 'project');
  }

  async open({ scripts, linked = [], install }: ClientFiles): Promise<void> {
    for (const at of [this.project, this.clients]) mkdirSync(join(at, 'node_modules'), { recursive: true });
    for (const file of ['agents.ts', 'tools.ts', 'holdfast.config.ts'])
      copyFileSync(join(root, 'cli', 'templates', 'project', file), join(this.project, file));
    for (const at of [this.project, this.clients]) writeFileSync(join(at, 'package.json'), '{ "private": true }');
    symlinkSync(root, join(this.project, 'node_modules', 'holdfast'));
    symlinkSync(join(root, 'node_modules', 'zod'), join(this.project, 'node_modules', 'zod'));
    for (const file of scripts) copyFileSync(join(root, 'test', 'acceptance', file), join(this.clients, file));
    const npm = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--engine-strict=false', ...(install ?? [])];
    if (install !== undefined) await run('npm', npm, { cwd: this.clients, env: environment });
    for (const name of linked) {
      const at = join(this.clients, 'node_modules', name);
      mkdirSync(dirname(at), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), at);
    }
    this.url = `http://127.0.0.1:${await freePort()}`;
    await this.serve();
  }

  async serve(): Promise<void> {
    const command = [join(root, 'dist', 'cli', 'main.js'), 'dev', '--port', new URL(this.url).port];
    this.service = spawn(process.execPath, command, { cwd: this.project, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    await ready(this.service, this.url);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const { service } = this;
    if (service === undefined || service.exitCode !== null || service.signalCode !== null) return;
    const closed = once(service, 'exit');
    service.kill(signal);
    await closed;
  }

  async crash(): Promise<void> {
    await this.end('SIGKILL');
    await this.serve();
  }

  async close(): Promise<void> {
    await this.end('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }

  async script(name: string): Promise<string> {
    try {
      const { stdout } = await run(process.execPath, [name, this.url], { cwd: this.clients, env: environment });
      return stdout;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`${name} failed. Its last words:\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`, { cause: error });
    }
  }

  /** Runs a script; at every KILL in the output, kills and restarts the service and tells the script. */
  async killedBy(name: string): Promise<string> {
    const client = spawn(process.execPath, [name, this.url], { cwd: this.clients, env: environment });
    let said = '';
    client.stdout.setEncoding('utf8');
    // The script may already be gone.
    client.stdin.on('error', () => undefined);
    const closed = once(client, 'close');
    let crashes = 0;
    for await (const piece of client.stdout as AsyncIterable<string>) {
      said += piece;
      for (; crashes < said.split('KILL\n').length - 1; crashes++) {
        await this.crash();
        client.stdin.write('back\n');
      }
    }
    await closed;
    return said;
  }
}
