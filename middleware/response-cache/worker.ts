import { defined } from '../../contract/defined';
import { createHash } from 'node:crypto';
import { currentCall } from '../../activities/calls/call-context';
import { AnswerAssembly, chunksOf } from '../../activities/models/chunks';
import type {
  WorkerCall,
  WorkerWraps,
  WorkerMiddleware,
  WorkerModelRequest,
  WorkerModelResponse,
} from '../../activities/worker-middleware/worker-middleware';
import { defineWorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import { messageOf } from '../../contract/errors';
import type { FinishReason, Json, Part, Usage } from '../../contract/messages/messages';
import { canonicalJson } from '../../contract/messages/messages';
import { checkOptions, func, having, worded } from '../../contract/check';
import type { CachedResponse, ResponseStore } from './worker/stores';
import { isCached, memoryResponses } from './worker/stores';

export interface CachedResponsesOptions {
  /** Default: `memoryResponses()`. */
  readonly store?: ResponseStore;
  /** Called when the store fails and the model is asked. Default: one warning until the store works again. */
  readonly onProblem?: (error: unknown) => void;
}

interface CacheUse {
  readonly maxAgeMs?: number;
  readonly version?: string;
}

/**
 * `responseCache` with another store, for `middleware` of the configuration.
 * @example
 * export default defineConfig({
 *   agents: 'agents.ts',
 *   middleware: [cachedResponses({ store: directoryResponses('.holdfast/answers') })],
 * });
 */
export function cachedResponses(options: CachedResponsesOptions = {}): WorkerMiddleware {
  const { store = memoryResponses(), onProblem } = checkOptions<CachedResponsesOptions>(
    'cachedResponses',
    options,
    { store: worded(having(['get', 'set'], ''), 'an object with get(key) and set(key, response)'), onProblem: func },
    'config-invalid',
  );
  const cache = new Cache(store, onProblem);
  return defineWorkerMiddleware('responseCache', (given: Json) => wrapsOf(cache, (given ?? {}) as CacheUse));
}

const freeOfCost: Usage = { inputTokens: 0, outputTokens: 0 };

function wrapsOf(cache: Cache, { maxAgeMs, version }: CacheUse): WorkerWraps {
  return {
    wrapModel: {
      async generate(request, next, call): Promise<WorkerModelResponse> {
        const key = keyOf(request, call, version);
        const known = isAskedAgain(call) ? undefined : await cache.get(key, maxAgeMs);
        if (known !== undefined)
          return { message: { role: 'assistant', parts: known.parts }, usage: freeOfCost, ...defined({ finish: known.finish }) };
        const response = await next(request);
        await cache.keep(key, response.message.parts, response.finish);
        return response;
      },
      async *stream(request, next, call) {
        const key = keyOf(request, call, version);
        const known = isAskedAgain(call) ? undefined : await cache.get(key, maxAgeMs);
        if (known !== undefined) {
          yield* chunksOf({ parts: known.parts, usage: freeOfCost, ...defined({ finish: known.finish }) });
          return;
        }
        const assembly = new AnswerAssembly();
        for await (const chunk of next(request)) {
          assembly.add(chunk);
          // Before the last piece: a reader of the whole answer finds the cached answer.
          if (chunk.type === 'finish') {
            const { parts, finish } = assembly.answer();
            await cache.keep(key, parts, finish);
          }
          yield chunk;
        }
      },
    },
  };
}

const whole: readonly (FinishReason | undefined)[] = [undefined, 'stop', 'tool-calls'];

class Cache {
  private readonly failing = new Set<string>();

  constructor(
    private readonly store: ResponseStore,
    private readonly onProblem: ((error: unknown) => void) | undefined,
  ) {}

  async get(key: string, maxAgeMs = Infinity): Promise<CachedResponse | undefined> {
    const found = await this.watched('read', () => this.store.get(key));
    return found !== undefined && isCached(found) && Date.now() - found.at <= maxAgeMs ? found : undefined;
  }

  async keep(key: string, parts: readonly Part[], finish: FinishReason | undefined): Promise<void> {
    if (!whole.includes(finish) || parts.length === 0) return;
    await this.watched('written', () => this.store.set(key, { parts, ...defined({ finish }), at: Date.now() }));
  }

  private async watched<T>(doing: 'read' | 'written', use: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await use();
      this.failing.delete(doing);
      return result;
    } catch (error) {
      if (this.onProblem !== undefined) this.onProblem(error);
      else if (!this.failing.has(doing)) {
        this.failing.add(doing);
        const what = `The store of responseCache cannot be ${doing}: ${messageOf(error)}.`;
        process.emitWarning(
          `${what} Models are asked as if nothing was kept. This is told once for as long as it lasts.`,
          'HoldfastWarning',
        );
      }
      return undefined;
    }
  }
}

function isAskedAgain({ id }: WorkerCall): boolean {
  return /\/model\.\d+$/.test(id);
}

/** Tenants share nothing. */
function keyOf(
  { instructions, messages, tools, model, settings, slots = {} }: WorkerModelRequest,
  { agent }: WorkerCall,
  version: string | undefined,
): string {
  const tenant = currentCall()?.workflowId.split('/', 1)[0] ?? null;
  // Ids differ in each run, and mean nothing to a model.
  const said = messages.map(({ role, parts, extra }) => ({ role, parts, extra }));
  const { output, final, catalog, specs, deferred } = slots;
  const asks = Object.entries({ output, final, catalog, specs, deferred }).filter(([, value]) => value !== undefined && value !== null);
  const request = { tenant, agent, version, model, instructions, messages: said, tools, settings, asks };
  return createHash('sha256').update(canonicalJson(request)).digest('hex');
}
