import { noteMemoryLoss } from './memory-loss';
import { optionsOfThread } from './thread-options';

/** The module itself, not a copy of its names: the SDK takes its Worker from it. */
const threads = process.getBuiltinModule('node:worker_threads');

/**
 * An endless loop in a hook is ended by a timeout, and the task fails. When the loop stands in a promise's continuation and Node tracks async ids, as it does
 * for `AsyncLocalStorage` before Node 24 and for hooks of `node:async_hooks` everywhere, their stack is out of order afterwards: Node aborts the whole
 * process, and every process that takes the task next. Before Node 24 the stack is cleared after such a timeout, as Node itself does after an uncaught
 * exception. Later there is no way to, and no need: the thread in which workflows run gets no flags and no preloaded modules that could track them.
 * That thread is the SDK's own and takes no options, hence this detour.
 */
const guard = `
const { Script } = require('node:vm');
const clear = clearOfAsyncIds();
function clearOfAsyncIds() {
  const warnings = process.noDeprecation;
  process.noDeprecation = true;
  try {
    return process.binding('async_wrap').clearAsyncIdStack;
  } catch {
    return undefined;
  } finally {
    process.noDeprecation = warnings;
  }
}
if (typeof clear === 'function') {
  const { runInContext } = Script.prototype;
  Script.prototype.runInContext = function (...parameters) {
    try {
      return runInContext.apply(this, parameters);
    } catch (error) {
      if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') clear();
      throw error;
    }
  };
}
`;

const plainWorker = threads.Worker;
let guarding = 0;

/** Until the returned function is called, threads that are made for workflows survive endless loops in user code. */
export function beginLoopGuard(): () => void {
  if (guarding++ === 0) threads.Worker = guarded;
  let open = true;
  return () => {
    if (open && --guarding === 0) threads.Worker = plainWorker;
    open = false;
  };
}

/** What the SDK sends to a thread of workflows. */
interface ThreadRequest {
  readonly requestId?: unknown;
  readonly input?: {
    readonly type?: string;
    readonly runId?: string;
    readonly options?: { readonly info?: { readonly workflowId?: string; readonly runId?: string } };
  };
}

class GuardedWorker extends plainWorker {
  private readonly workflowIds = new Map<string, string>();
  /** Executions by the request that they are in, oldest first: the thread takes one after another. */
  private readonly inTask = new Map<unknown, string>();

  constructor(file: string | URL) {
    super(`${guard}\nrequire(${JSON.stringify(String(file))});`, { ...optionsOfThread(), eval: true });
    this.on('message', ({ requestId }: ThreadRequest) => void this.inTask.delete(requestId));
    this.on('error', (error) => noteMemoryLoss(error, () => this.inTask.values(), this.workflowIds));
  }

  override postMessage(request: unknown, transfer?: never): void {
    const { requestId, input } = request as ThreadRequest;
    const { workflowId, runId = input?.runId } = input?.options?.info ?? {};
    if (runId !== undefined && workflowId !== undefined) this.workflowIds.set(runId, workflowId);
    if (runId !== undefined && input?.type === 'dispose-workflow') this.workflowIds.delete(runId);
    else if (runId !== undefined && /^(create|activate)-workflow$/.test(input?.type ?? '')) this.inTask.set(requestId, runId);
    super.postMessage(request, transfer);
  }
}

/** Threads of others are made as they were. */
const guarded = new Proxy(plainWorker, {
  construct(target, parameters: ConstructorParameters<typeof plainWorker>, made) {
    const [file, options] = parameters;
    if (/workflow-worker-thread/.test(String(file)) && options === undefined) return new GuardedWorker(file);
    return Reflect.construct(target, parameters, made) as object;
  },
});
