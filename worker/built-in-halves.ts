import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { piiOnWorker } from '../middleware/pii/worker';
import { cachedResponses } from '../middleware/response-cache/worker';

/** The worker halves that need no configuration. One of the same name in the configuration takes the place of its own. */
export function builtInHalves(): readonly WorkerMiddleware[] {
  return [piiOnWorker, cachedResponses()];
}
