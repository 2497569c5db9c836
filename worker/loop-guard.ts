import type { WorkerOptions } from 'node:worker_threads';

/** The module itself, not a copy of its names: the SDK takes its Worker from it. */
const threads = process.getBuiltinModule('node:worker_threads');

/**
 * An endless loop in a hook is ended by a timeout, and the task fails. But when the loop stands in a promise's continuation, Node 20 finds its stack of
 * async ids out of order afterwards and aborts the whole process, and every process that takes the task next. So the stack is cleared after such a timeout,
 * as Node itself does after an uncaught exception. The thread in which workflows run is the SDK's own and takes no options, hence this detour.
 */
const guard = `
const { Script } = require('node:vm');
const warnings = process.noDeprecation;
process.noDeprecation = true;
const { clearAsyncIdStack } = process.binding('async_wrap');
process.noDeprecation = warnings;
const { runInContext } = Script.prototype;
Script.prototype.runInContext = function (...parameters) {
  try {
    return runInContext.apply(this, parameters);
  } catch (error) {
    if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') clearAsyncIdStack?.();
    throw error;
  }
};
`;

const plainWorker = threads.Worker;
let guarding = 0;

/** Worker threads that are made meanwhile for workflows survive endless loops in user code. */
export async function withLoopGuard<T>(run: () => Promise<T>): Promise<T> {
  if (guarding++ === 0) threads.Worker = GuardedWorker;
  try {
    return await run();
  } finally {
    if (--guarding === 0) threads.Worker = plainWorker;
  }
}

class GuardedWorker extends plainWorker {
  constructor(file: string | URL, options?: WorkerOptions) {
    if (!/workflow-worker-thread/.test(String(file)) || options !== undefined) super(file, options);
    else super(`${guard}\nrequire(${JSON.stringify(String(file))});`, { eval: true });
  }
}
