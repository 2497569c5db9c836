import { processesOfSession, startOwner, untilGone } from '../../host/owner-process';
import { temporaryDirectory } from '../../host/temporary-directory';

it('the server of a directory leaves no process behind within 6 seconds of the kill -9 of its owner', async () => {
  const owner = await startOwner({ directory: temporaryDirectory() });
  const family = processesOfSession(owner.server.pid);
  expect(family.length).toBe(2);
  await owner.murder();
  await Promise.all(family.map((pid) => untilGone(pid, 6_000)));
}, 90_000);
