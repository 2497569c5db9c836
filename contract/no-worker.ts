import type { NoWorker } from './service';

export function noWorkerText({ taskQueue, since }: NoWorker): string {
  const when = since === undefined ? '' : ` since ${since.slice(0, 16).replace('T', ' ')} UTC`;
  return `No worker polls the task queue "${taskQueue}"${when}. Its runs wait for a worker.`;
}
