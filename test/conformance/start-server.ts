import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import startServer from '../support/start-server';
import { madeBundle } from '../support/made-bundle';

export default async function startConformanceServer(): Promise<void> {
  await startServer();
  const bundle = await madeBundle(join(__dirname, 'all-agents.ts'));
  writeFileSync(join(process.env['HOLDFAST_TEST_DIRECTORY'] ?? '', 'conformance-bundle.json'), JSON.stringify(bundle));
}
