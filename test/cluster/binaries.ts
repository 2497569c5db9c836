import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '../../host/cache-directory';

const version = '1.29.1';
const draftPrefix = '.new-';
const buildPatienceMs = 20 * 60_000;

export interface ClusterBinaries {
  readonly server: string;
  readonly sqlTool: string;
  readonly schema: string;
}

/** Builds Temporal's server and SQL tool through the Go module proxy, once per cache, one process at a time. */
export async function clusterBinaries(): Promise<ClusterBinaries> {
  const folder = join(cacheDirectory(process.env), `cluster-${version}`);
  const binaries = { server: join(folder, 'temporal-server'), sqlTool: join(folder, 'temporal-sql-tool'), schema: join(folder, 'schema') };
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(join(folder, draftPrefix));
  try {
    if (Object.values(binaries).every((file) => existsSync(file))) return binaries;
    console.log(`Building Temporal's server ${version} and its SQL tool with Go. Only the first time; some minutes.`);
    const source = await downloaded(draft);
    await run('go', ['build', '-ldflags=-s -w', '-o', join(draft, 'server'), './cmd/server'], source);
    await run('go', ['build', '-ldflags=-s -w', '-o', join(draft, 'sql'), './cmd/tools/sql'], source);
    await run('cp', ['-r', join(source, 'schema', 'postgresql', 'v12'), join(draft, 'schema')], draft);
    await run('chmod', ['-R', 'u+w', join(draft, 'schema')], draft);
    rmSync(binaries.schema, { recursive: true, force: true });
    renameSync(join(draft, 'schema'), binaries.schema);
    renameSync(join(draft, 'sql'), binaries.sqlTool);
    renameSync(join(draft, 'server'), binaries.server);
    return binaries;
  } finally {
    rmSync(draft, { recursive: true });
  }
}

async function downloaded(folder: string): Promise<string> {
  const text = await run('go', ['mod', 'download', '-json', `go.temporal.io/server@v${version}`], folder);
  const { Dir } = JSON.parse(text) as { readonly Dir?: string };
  if (Dir === undefined) throw new Error(`go mod download says no folder: ${text}`);
  return Dir;
}

export function run(command: string, args: readonly string[], folder: string, environment = process.env): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      command,
      [...args],
      { cwd: folder, timeout: buildPatienceMs, maxBuffer: 64 * 1024 * 1024, env: environment },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const said = stderr.trim().split('\n').slice(-5).join('\n');
        reject(new Error(`${command} ${args.slice(0, 4).join(' ')}: ${said === '' ? error.message : said}`));
      },
    );
  });
}
