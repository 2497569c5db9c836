import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../configuration';

const patienceMs = 15_000;

/**
 * The SDK downloads only at the start of a test server, in native code that nothing interrupts. So a child process starts a server with
 * `--help`, and is killed with the complete file, or after 15 s without progress.
 */
const script = `
process.stdin.resume().on('end', () => process.exit(1));
const { TestWorkflowEnvironment } = require(process.argv[1]);
TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir: process.argv[2] }, extraArgs: ['--help'] } })
  .then((environment) => environment.teardown())
  .catch((error) => process.stderr.write(String(error && error.message)))
  .finally(() => process.exit(1));
`;

export async function downloadServer(folder: string, environment: Environment, onProgress: (message: string) => void): Promise<string> {
  onProgress('Downloading the Temporal server.');
  const child = spawn(process.execPath, ['-e', script, require.resolve('@temporalio/testing'), folder], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...environment },
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += String(chunk)));
  const end = once(child, 'close').then(
    () => true,
    () => true,
  );
  let [bytes, progressAt] = [0, Date.now()];
  try {
    for (let ended = false; ; ended = await Promise.race([end, sleep(200, false)])) {
      const files = readdirSync(folder);
      const complete = files.find((file) => !file.endsWith('.downloading'));
      if (complete !== undefined) return join(folder, complete);
      if (ended) throw new Error(complaint.trim().split('\n').at(-1) || 'it failed');
      const now = files.reduce((sum, file) => sum + (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0), 0);
      if (now > bytes) [bytes, progressAt] = [now, Date.now()];
      if (Date.now() - progressAt > patienceMs) throw new Error(`no progress for ${patienceMs / 1000} s`);
    }
  } finally {
    child.kill('SIGKILL');
    await end;
  }
}
