import { ToolAttempt } from '../../activities/tools/tool-attempt';
import { ToolRegistry } from '../../activities/tools/tools';
import { aboutNothing } from '../../activities/transcripts/start-store';
import type { WorkerMiddleware } from '../../activities/worker-middleware/worker-middleware';
import { WorkerMiddlewareRegistry } from '../../activities/worker-middleware/worker-middleware';
import type { DeltaBody } from '../../contract/deltas';
import type { CallToolInput, ToolOutcome } from '../../contract/record/wire';

export interface Executed {
  readonly outcome: ToolOutcome;
  readonly deltas: readonly DeltaBody[];
}

export async function execute(
  tool: object,
  options: Partial<CallToolInput> & {
    readonly middleware?: readonly WorkerMiddleware[];
    readonly signal?: AbortSignal;
    readonly attempt?: number;
    readonly unseen?: boolean;
    readonly deltas?: DeltaBody[];
  } = {},
): Promise<Executed> {
  const { middleware = [], signal = new AbortController().signal, attempt = 1, unseen = false, deltas = [], ...input } = options;
  const tools = new ToolRegistry({ tool });
  await tools.ready();
  const made = new ToolAttempt(
    { tool: 'tool', callId: 'call', input: {}, path: ['agent'], workerMiddleware: middleware.map(({ name }) => ({ name })), ...input },
    { tools, middleware: new WorkerMiddlewareRegistry(middleware) },
    {
      workflowId: 'default/run',
      address: 'agent/t1/tool.0',
      attempt,
      signal,
      ...(unseen ? {} : { publish: (delta: DeltaBody) => void deltas.push(delta) }),
    },
  );
  return { outcome: await made.run({}, aboutNothing), deltas };
}

export function seen(deltas: readonly DeltaBody[]): readonly string[] {
  return deltas.map((delta) => {
    if (delta.type === 'tool-output-delta') return `+${delta.text ?? JSON.stringify(delta.part)}`;
    if (delta.type === 'tool-progress') return `.${JSON.stringify(delta.data)}`;
    return delta.type;
  });
}
