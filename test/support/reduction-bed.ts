import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { Delta } from '../../contract/deltas';
import type { ReductionOnWorkerOptions } from '../../middleware/reduction/worker';
import { reductionOnWorker } from '../../middleware/reduction/worker';
import type { ReductionOptions } from '../../middleware/index';
import { reduction } from '../../middleware/index';
import type { Asked } from './compaction-bed';
import { asked, keptTexts, user } from './compaction-bed';

export const text = z.object({ text: z.string() });
export const says = (output: string) => defineTool({ description: 'Says it.', inputSchema: text, execute: () => output });
export const streams = (list: readonly string[], error?: string) =>
  defineTool({
    description: 'Streams.',
    inputSchema: text,
    async *stream() {
      yield* list;
      if (error !== undefined) throw new Error(error);
    },
  });

export interface CutPlay {
  readonly options?: ReductionOptions;
  readonly half?: ReductionOnWorkerOptions;
  readonly tools: Readonly<Record<string, unknown>>;
  readonly idOf?: (tool: string) => string;
  readonly onDelta?: (delta: Delta) => void;
}

export function cutCalls({
  options = {},
  half = { backend: keptTexts() },
  tools,
  idOf = (tool) => `id-${tool}`,
  onDelta,
}: CutPlay): Promise<Asked> {
  const toolCalls = Object.keys(tools).map((name) => ({ name, id: idOf(name), input: { text: 'x' } }));
  return asked([reduction({ maxLengthForTrunc: 10, skipClear: true, ...options })], [user('Hi')], {
    steps: [{ toolCalls }, { text: 'Done.' }],
    agent: { tools: Object.keys(tools) },
    tools,
    middleware: [reductionOnWorker(half)],
    ...(onDelta === undefined ? {} : { onDelta }),
  });
}
