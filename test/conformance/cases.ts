import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type EngineName = 'memory' | 'temporal';

export interface Case {
  readonly key: string;
  readonly section: string;
  readonly case: string;
  readonly engines: readonly EngineName[];
  /** The missing feature. An open case has no test. */
  readonly open?: string;
  /** The reason why the case has no meaning. docs/coming-from/differences.md gives the reason too. */
  readonly notApplicable?: string;
}

const root = join(__dirname, '..', '..');

// The compiled report has no copy of the file.
const folder = root.endsWith('dist') ? join(root, '..', 'test', 'conformance') : __dirname;

export const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as readonly Case[];

export function keyOf(title: string): string | undefined {
  return /^\[((?:eino|trpc) \d+)\] /.exec(title)?.[1];
}
