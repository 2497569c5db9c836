import { defined } from '../contract/defined';
import type { NoWorker } from '../contract/service';
import type { BuildList, ServedBuild } from '../contract/service-facts';
import type { DeploymentReader } from '../host/deployment';

const mostCounted = 20;
const silentMs = 150_000;
const grpcNotFound = 5;

export async function noWorkerOf(deployment: Pick<DeploymentReader, 'name' | 'lastPoll'>): Promise<NoWorker | undefined> {
  const last = await deployment.lastPoll();
  if (Date.now() - last < silentMs) return undefined;
  return { taskQueue: deployment.name, ...(last === 0 ? {} : { since: new Date(last).toISOString() }) };
}

/** Newest first. Empty: no worker has ever polled. */
export async function listBuilds(
  deployment: Pick<DeploymentReader, 'name' | 'described' | 'allPolls' | 'openRuns'>,
  now: () => number = Date.now,
): Promise<BuildList> {
  const described = await deployment.described().catch((error: unknown) => {
    if ((error as { code?: unknown }).code === grpcNotFound) return undefined;
    throw error;
  });
  if (described === undefined) return { taskQueue: deployment.name, builds: [] };
  const { standing, known } = described;
  const polls = await deployment.allPolls();
  const isNewest = (id: string): boolean => id === standing.current;
  const asked = [...known].sort((one, other) => Number(isNewest(other.id)) - Number(isNewest(one.id)));
  const counted = asked.filter(({ id }) => isNewest(id) || !standing.drained.has(id)).slice(0, mostCounted);
  const open = new Map(await Promise.all(counted.map(async ({ id }) => [id, await deployment.openRuns(id)] as const)));
  const builds = known.map(({ id, since }): ServedBuild => {
    const polled = polls.get(id);
    const isServed = polled !== undefined && now() - polled < silentMs;
    const openRuns = standing.drained.has(id) && !isNewest(id) ? 0 : open.get(id);
    return {
      id,
      isNewest: isNewest(id),
      state: stateOf(isNewest(id), isServed, openRuns),
      ...defined({
        openRuns,
        since: since > 0 ? new Date(since).toISOString() : undefined,
        polledAt: polled === undefined ? undefined : new Date(polled).toISOString(),
      }),
    };
  });
  return { taskQueue: deployment.name, builds };
}

function stateOf(isNewest: boolean, isServed: boolean, openRuns: number | undefined): ServedBuild['state'] {
  if (isNewest) return isServed ? 'newest' : 'unserved';
  if (openRuns === 0) return 'drained';
  return isServed ? 'draining' : 'unserved';
}
