import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../contract/errors';
import type { Environment } from '../configuration';

/**
 * Before the driver's version 1.40.1 a query that its caller gives up can leak its statement and lock the database:
 * docs/decisions/workers-and-server.md.
 */
const modules = `module holdfast-server

go 1.25.0

require (
	github.com/temporalio/cli v1.5.1
	modernc.org/sqlite v1.51.0
)
`;
const oldestGo = [1, 25] as const;
const patienceMs = 20 * 60_000;
const progressEveryMs = 5_000;

export async function buildServer(folder: string, environment: Environment, onProgress: (message: string) => void): Promise<string> {
  const run = (args: string[], variables: Record<string, string> = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { cwd: folder, timeout: patienceMs, maxBuffer: 16 * 1024 * 1024, env: { ...environment, ...variables } };
      execFile('go', args, options, (error, stdout, stderr) =>
        error ? reject(new Error(stderr.trim().split('\n').at(-1) || messageOf(error))) : resolve(stdout),
      );
    });
  const [, version = 'of an unknown version', major = '0', minor = '0'] = /go((\d+)\.(\d+)\S*)/.exec(await run(['version'])) ?? [];
  if (Number(major) < oldestGo[0] || (Number(major) === oldestGo[0] && Number(minor) < oldestGo[1]))
    throw new Error(`Go ${version} is too old, ${oldestGo.join('.')} or newer is needed`);
  const started = Date.now();
  const seconds = (): number => Math.round((Date.now() - started) / 1000);
  onProgress(
    `Building the Temporal server with Go ${version}, because none is installed and none could be downloaded. Only the first time; about 3 to 5 minutes.`,
  );
  const telling = setInterval(() => onProgress(`Building the Temporal server: ${seconds()} s so far.`), progressEveryMs);
  try {
    writeFileSync(join(folder, 'go.mod'), modules);
    // Go's checksum database has the checksums.
    const build = ['build', '-mod=mod', '-ldflags=-s -w', '-o', 'temporal', 'github.com/temporalio/cli/cmd/temporal'];
    await run(build, { GOFLAGS: '', GOOS: '', GOARCH: '', GOWORK: 'off' });
    onProgress(`Built the Temporal server in ${seconds()} s.`);
    return join(folder, 'temporal');
  } finally {
    clearInterval(telling);
  }
}
