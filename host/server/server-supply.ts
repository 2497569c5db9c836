import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../contract/errors';
import { acquireFileLock } from './file-lock';
import type { Environment } from '../configuration';
import { inspectServerBinary, onPath, type ServerBinary } from './server-binary';

const cliVersion = 'v1.5.1';
/**
 * The CLI asks for 1.34. There a query that its caller gives up can leave the one connection to the database interrupted for ever; from 1.38 on such a
 * connection is replaced.
 */
const driverVersion = 'v1.38.2';
const modules = `module holdfast-server

go 1.25.0

require (
	github.com/temporalio/cli ${cliVersion}
	modernc.org/sqlite ${driverVersion}
)
`;
const oldestGo = [1, 25] as const;
const downloadPatienceMs = 15_000;
const buildPatienceMs = 20 * 60_000;
const progressEveryMs = 5_000;
const draftPrefix = '.new-';

export interface BinarySearch {
  readonly environment: Environment;
  readonly onProgress: (message: string) => void;
}

/** Runs one way; a failure is noted and answered with undefined. */
type Attempt = (way: string, find: () => Promise<ServerBinary>) => Promise<ServerBinary | undefined>;

/**
 * Puts a binary into the cache: by download, else by a build. Processes that need it at the same time wait for the first; the file appears by one rename.
 */
export async function obtainServerBinary(cached: string, search: BinarySearch, attempt: Attempt): Promise<ServerBinary | undefined> {
  const folder = dirname(cached);
  mkdirSync(folder, { recursive: true });
  const lock = await acquireFileLock(`${cached}.lock`, {
    waitMs: buildPatienceMs,
    onWait: (pid) => search.onProgress(waitText(pid)),
  });
  for (const left of readdirSync(folder).filter((name) => name.startsWith(draftPrefix)))
    rmSync(join(folder, left), { recursive: true, force: true });
  const draft = mkdtempSync(join(folder, draftPrefix));
  const keep = async (file: string, origin: ServerBinary['origin']): Promise<ServerBinary> => {
    const binary = await inspectServerBinary(file, origin);
    renameSync(file, cached);
    return { ...binary, path: cached };
  };
  try {
    const other = await inspectServerBinary(cached, 'cache').catch(() => undefined);
    if (other !== undefined) return other;
    return (
      (await attempt("the SDK's download", async () => keep(await download(draft, search), 'download'))) ??
      (await attempt(`\`go build\` of the Temporal CLI ${cliVersion}`, async () => keep(await build(draft, search), 'build')))
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
    lock.release();
  }
}

/** Why nothing happens for a while, and for how long. */
export function waitText(pid: number): string {
  return `No Temporal server is installed or cached yet, and process ${pid} is fetching one. Waiting for it: about a minute for a download, 3 to 5 minutes for a build.`;
}

/**
 * The SDK downloads only on the way to a test server, in native code that cannot be interrupted. So a child process asks for such a server
 * with `--help` as an argument (the binary then prints and ends: no server can be left behind), and is ended as soon as the file is there,
 * or when it has made no progress for 15 s. Its stdin ends with us, and it with its stdin.
 */
const downloadScript = `
process.stdin.resume().on('end', () => process.exit(1));
const { TestWorkflowEnvironment } = require(process.argv[1]);
TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir: process.argv[2] }, extraArgs: ['--help'] } })
  .then((environment) => environment.teardown())
  .catch((error) => process.stderr.write(String(error && error.message)))
  .finally(() => process.exit(1));
`;

async function download(folder: string, search: BinarySearch): Promise<string> {
  search.onProgress('Downloading the Temporal server.');
  const child = spawn(process.execPath, ['-e', downloadScript, require.resolve('@temporalio/testing'), folder], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...search.environment },
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += String(chunk)));
  let ended = false;
  const end = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  }).then(() => void (ended = true));

  const started = Date.now();
  let bytes = 0;
  let progressAt = started;
  try {
    for (;;) {
      const files = readdirSync(folder);
      const complete = files.find((file) => !file.endsWith('.downloading'));
      if (complete !== undefined) return join(folder, complete);
      if (ended) throw new Error(complaint.trim().split('\n').at(-1) || 'it failed');
      const now = files.reduce((sum, file) => sum + (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0), 0);
      if (now > bytes) [bytes, progressAt] = [now, Date.now()];
      if (Date.now() - progressAt > downloadPatienceMs) throw new Error('no progress for 15 s');
      await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 200))]);
    }
  } finally {
    child.kill('SIGKILL');
    await end;
  }
}

async function build(folder: string, search: BinarySearch): Promise<string> {
  const go = onPath('go', search.environment);
  const version = await goVersion(go, search);
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  search.onProgress(
    `Building the Temporal server with Go ${version}, because none is installed and none could be downloaded. Only the first time; about 3 to 5 minutes.`,
  );
  const telling = setInterval(() => search.onProgress(`Building the Temporal server: ${seconds()} s so far.`), progressEveryMs);
  try {
    writeFileSync(join(folder, 'go.mod'), modules);
    await new Promise<void>((resolve, reject) => {
      execFile(
        go,
        // Sums come from Go's checksum database.
        ['build', '-mod=mod', '-ldflags=-s -w', '-o', 'temporal', 'github.com/temporalio/cli/cmd/temporal'],
        {
          cwd: folder,
          timeout: buildPatienceMs,
          maxBuffer: 16 * 1024 * 1024,
          env: { ...search.environment, GOFLAGS: '', GOOS: '', GOARCH: '', GOWORK: 'off' },
        },
        (error, _stdout, stderr) => (error ? reject(new Error(stderr.trim().split('\n').at(-1) || messageOf(error))) : resolve()),
      );
    });
    search.onProgress(`Built the Temporal server in ${seconds()} s.`);
    return join(folder, 'temporal');
  } finally {
    clearInterval(telling);
  }
}

async function goVersion(go: string, search: BinarySearch): Promise<string> {
  const text = await new Promise<string>((resolve, reject) => {
    execFile(go, ['version'], { timeout: 15_000, env: { ...search.environment } }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  const [, version = '', major = '0', minor = '0'] = /go((\d+)\.(\d+)\S*)/.exec(text) ?? [];
  if (Number(major) < oldestGo[0] || (Number(major) === oldestGo[0] && Number(minor) < oldestGo[1])) {
    throw new Error(`Go ${version || 'of an unknown version'} is too old, ${oldestGo.join('.')} or newer is needed`);
  }
  return version;
}
