import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { WorkflowBundle } from '../../worker/bundle';
import { bundleAgents } from '../../worker/bundle';

/** Agents modules of our own stay as they are while the tests run. Those that a test writes are bundled each time. */
export function isShared(agents: string): boolean {
  return resolve(agents).startsWith(join(__dirname, '..'));
}

/** The bundle of such a module, made once for all files of a Jest run: it takes seconds. */
export async function sharedBundle(agents: string): Promise<WorkflowBundle> {
  const path = resolve(agents);
  const name = `${basename(path, '.ts')}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}-bundle.json`;
  const file = join(process.env['HOLDFAST_TEST_DIRECTORY'] ?? '', name);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as WorkflowBundle;
  const bundle = await bundleAgents(path);
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(bundle));
  renameSync(temporary, file);
  return bundle;
}

/** The same agents with other words in them: another build, without the seconds that bundling takes. */
export function variantOf({ code }: WorkflowBundle, words: string, others: string): WorkflowBundle {
  if (!code.includes(words)) throw new Error(`The bundle does not have "${words}".`);
  const changed = code.split(words).join(others);
  return { buildId: createHash('sha256').update(changed).digest('hex').slice(0, 16), code: changed };
}
