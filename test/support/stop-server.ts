import type { EmbeddedServer } from '../../host/server/embedded-server';

export default async function stopServer(): Promise<void> {
  await (globalThis as { holdfastTestServer?: EmbeddedServer }).holdfastTestServer?.stop();
}
