import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDirectory, testServer } from '../support/test-bed';

/** What each program of this folder is told: the server of the Jest run, a task queue, and the bundle of the agents of all tests. */
export interface ProgramSettings {
  readonly address: string;
  readonly taskQueue: string;
  readonly bundles: string;
  /** File with a bundle that was made before. */
  readonly bundle: string;
}

export function programSettings(taskQueue: string): ProgramSettings {
  return {
    address: testServer().address,
    taskQueue,
    bundle: join(testDirectory(), 'fixture-bundle.json'),
    bundles: join(mkdtempSync(join(tmpdir(), 'holdfast-kill-')), 'bundles'),
  };
}
