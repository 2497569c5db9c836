import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { freePort } from '../../host/server/free-port';
import { ready, run } from '../product/package-bed';
import { eventually } from './eventually';

const root = resolve(__dirname, '..', '..');
const command = join(root, 'dist', 'cli', 'main.js');
const keys = /_API_KEY$|^TEMPORAL_|^HOLDFAST_(?!TEMPORAL_CLI$)|^OPENAI_|^npm_/;
const environment = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name))), NO_COLOR: '1' };

export interface ClientFiles {
  readonly scripts: readonly string[];
  readonly linked?: readonly string[];
  readonly install?: readonly string[];
  /** Fields of the configuration. */
  readonly fields?: string;
}

/** Clients of others at a service that asks for keys. */
export class DevWithClients {
  private readonly folder: string;
  private service: ChildProcess | undefined;
  private key = '';
  url = '';

  constructor(name: string) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), `holdfast-${name}-`)));
  }

  get clients(): string {
    return join(this.folder, 'clients');
  }

  private get clientOptions(): { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> } {
    return { cwd: this.clients, env: { ...environment, HOLDFAST_KEY: this.key } };
  }

  private clientCommand(name: string): string[] {
    return ['--import', './with-key.mjs', name, this.url];
  }

  private get project(): string {
    return join(this.folder, 'project');
  }

  async open({ scripts, linked = [], install, fields = '' }: ClientFiles): Promise<void> {
    for (const at of [this.project, this.clients]) mkdirSync(join(at, 'node_modules'), { recursive: true });
    const template = join(root, 'cli', 'templates', 'project');
    for (const file of ['agents.ts', 'tools.ts']) copyFileSync(join(template, file), join(this.project, file));
    const configuration = readFileSync(join(template, 'holdfast.config.ts'), 'utf8');
    writeFileSync(join(this.project, 'holdfast.config.ts'), configuration.replace('  tools,\n', `  tools,\n  access: {},\n  ${fields}\n`));
    for (const at of [this.project, this.clients]) writeFileSync(join(at, 'package.json'), '{ "private": true }');
    symlinkSync(root, join(this.project, 'node_modules', 'holdfast'));
    symlinkSync(join(root, 'node_modules', 'zod'), join(this.project, 'node_modules', 'zod'));
    for (const file of ['with-key.mjs', ...scripts]) copyFileSync(join(root, 'test', 'acceptance', file), join(this.clients, file));
    const npm = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--engine-strict=false', ...(install ?? [])];
    if (install !== undefined) await run('npm', npm, { cwd: this.clients, env: environment });
    for (const name of linked) {
      const at = join(this.clients, 'node_modules', name);
      mkdirSync(dirname(at), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), at);
    }
    this.url = `http://127.0.0.1:${await freePort()}`;
    this.key = await this.createKey('kim', '--roles', 'admin');
    await this.serve();
  }

  async createKey(...named: readonly string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [command, 'keys', 'create', ...named], { cwd: this.project, env: environment });
    return stdout.trim();
  }

  readonly fetch: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    request.headers.set('authorization', `Bearer ${this.key}`);
    return fetch(request);
  };

  async serve(): Promise<void> {
    this.service = spawn(process.execPath, [command, 'dev', '--port', new URL(this.url).port], {
      cwd: this.project,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
      const { stdout } = await run(process.execPath, this.clientCommand(name), this.clientOptions);
      return stdout;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`${name} failed. Its last words:\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`, { cause: error });
    }
  }

  /** Runs a script; at every KILL in the output, kills and restarts the service and tells the script. */
  async killedBy(name: string): Promise<string> {
    const client = spawn(process.execPath, this.clientCommand(name), this.clientOptions);
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

/** Repeats requests that a kill has broken. */
export function whenReachable<T>(ask: () => Promise<T>): Promise<T> {
  return eventually(() =>
    ask().catch((error: unknown) =>
      (error as { code?: unknown }).code === 'service-unreachable' ? undefined : Promise.reject(error as Error),
    ),
  );
}
