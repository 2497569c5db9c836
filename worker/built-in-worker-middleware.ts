import type { WorkerMiddleware } from '../activities/worker-middleware/worker-middleware';
import { piiOnWorker } from '../middleware/pii/worker';
import { cachedResponses } from '../middleware/response-cache/worker';

export function builtInWorkerMiddleware(): readonly WorkerMiddleware[] {
  return [piiOnWorker, cachedResponses()];
}
