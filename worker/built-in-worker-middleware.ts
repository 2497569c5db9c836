import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { piiOnWorker } from '../middleware/pii/worker';
import { cachedResponses } from '../middleware/response-cache/worker';

/** The worker middleware that need no configuration. One of the same name in the configuration takes the place of its own. */
export function builtInWorkerMiddleware(): readonly WorkerMiddleware[] {
  return [piiOnWorker, cachedResponses()];
}
