import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { piiOnWorker } from '../middleware/pii/worker';
import { cachedResponses } from '../middleware/response-cache/worker';

/** A configured middleware replaces the built-in middleware of the same name. */
export function builtInWorkerMiddleware(): readonly WorkerMiddleware[] {
  return [piiOnWorker, cachedResponses()];
}
