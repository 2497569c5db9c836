import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type EngineName = 'memory' | 'temporal';

/** One case of the two specifications that Holdfast follows. */
export interface Case {
  readonly key: string;
  readonly section: string;
  readonly case: string;
  readonly engines: readonly EngineName[];
  /** What it waits for. It must have no test. */
  readonly open?: string;
  /** Why it has no meaning here; docs/coming-from/differences.md says so too. */
  readonly notApplicable?: string;
}

const root = join(__dirname, '..', '..');

// Read from the source folder: the compiled report has no copy of it.
const folder = root.endsWith('dist') ? join(root, '..', 'test', 'conformance') : __dirname;

export const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as readonly Case[];

/** The key that the title of a test begins with. */
export function keyOf(title: string): string | undefined {
  return /^\[((?:eino|trpc) \d+)\] /.exec(title)?.[1];
}
