import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { piiOnWorker } from '../middleware/pii/worker';
import { cachedResponses } from '../middleware/response-cache/worker';

/** Worker middleware without configuration. A configured middleware of the same name replaces the built-in middleware. */
export function builtInWorkerMiddleware(): readonly WorkerMiddleware[] {
  return [piiOnWorker, cachedResponses()];
}
