import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedServer } from '../../host/server/embedded-server';
import { startEmbeddedServer } from '../../host/server/embedded-server';
import { forgetOldBundles, madeBundle } from './made-bundle';
import { roomForDeployments } from './room-for-deployments';

const holder = globalThis as { holdfastTestServer?: EmbeddedServer };

/**
 * One server and one fixture bundle per Jest run. HOLDFAST_TEST_ADDRESS names a running server, as in `npm run cluster`. Limits are
 * defaults.
 */
export default async function startServer(): Promise<void> {
  // Every project with a server calls the function.
  if (process.env['HOLDFAST_TEST_DIRECTORY'] !== undefined) return;
  forgetOldBundles();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const running = process.env['HOLDFAST_TEST_ADDRESS'];
  const [server, bundle] = await Promise.all([
    running !== undefined
      ? undefined
      : startEmbeddedServer({
          directory,
          dynamicConfig: {
            'history.workflowIdReuseMinimalInterval': '0s',
            'history.timerProcessorMaxTimeShift': '10ms',
            'system.transactionSizeLimit': 4 * 1024 * 1024,
            ...roomForDeployments,
          },
          onProgress: (text) => console.log(text),
        }),
    madeBundle(join(__dirname, '..', 'fixtures', 'agents.ts')),
  ]);
  if (server !== undefined) holder.holdfastTestServer = server;
  writeFileSync(join(directory, 'fixture-bundle.json'), JSON.stringify(bundle));
  if (server !== undefined) process.env['HOLDFAST_TEST_ADDRESS'] = server.address;
  process.env['HOLDFAST_TEST_DIRECTORY'] = directory;
}
