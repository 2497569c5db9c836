import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as OpenService from './open-service';

type Load = () => Promise<unknown>;

/** Large modules. The first asks the embedded server. */
const ofWorker: readonly Load[] = [
  () => import('../../host/server/asked-server.js'),
  () => import('../../service/project/load-project.js'),
  () => import('../../worker/create-worker.js'),
];

const ofService: readonly Load[] = [
  () => import('../../client/connect.js'),
  () => import('../../service/http/run-routes.js'),
  () => import('../../service/a2a/routes.js'),
  () => import('../../service/agui/routes.js'),
  () => import('../../service/responses/routes.js'),
  () => import('../../service/http/openapi/routes.js'),
];

export function loadWorkerInTurns(): Promise<void> {
  return inTurns(ofWorker);
}

export async function loadServiceInTurns(): Promise<typeof OpenService> {
  await inTurns(ofService);
  return import('./open-service.js');
}

async function inTurns(loads: readonly Load[]): Promise<void> {
  for (const load of loads) {
    await load();
    await nextTurn();
  }
}
