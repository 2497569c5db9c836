import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDirectory, testServer } from '../support/test-bed';

export interface ProgramSettings {
  readonly address: string;
  readonly taskQueue: string;
  readonly bundles: string;
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
