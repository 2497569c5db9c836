import type { ToolWorkerCall, WorkerWraps } from '../../../activities/worker-middleware/worker-middleware';
import type { Json, Part } from '../../../contract/messages/messages';
import { textOfJson } from '../../../contract/messages/messages';

export interface ResultChange {
  stays(call: ToolWorkerCall): boolean;
  /** `isParts`: the output is a list of parts. */
  change(output: Json, isParts: boolean, call: ToolWorkerCall): Promise<Json>;
}

/** Collects streams first: readers see nothing before the end, because shown text has to be the result. */
export function wholeResults(of: ResultChange): Required<Omit<WorkerWraps, 'wrapModel'>> {
  const changed = async (parts: readonly Part[], call: ToolWorkerCall): Promise<readonly Part[]> =>
    of.stays(call) ? parts : ((await of.change(parts, true, call)) as unknown as readonly Part[]);
  return {
    async wrapInvokableToolCall(input, next, call) {
      const output = await next(input);
      return of.stays(call) ? output : of.change(output, false, call);
    },
    wrapEnhancedInvokableToolCall: async (input, next, call) => changed(await next(input), call),
    async *wrapStreamableToolCall(input, next, call) {
      if (of.stays(call)) {
        yield* next(input);
        return;
      }
      let text = '';
      for await (const piece of next(input)) text += piece;
      yield textOfJson(await of.change(text, false, call));
    },
    async *wrapEnhancedStreamableToolCall(input, next, call) {
      if (of.stays(call)) {
        yield* next(input);
        return;
      }
      const parts: Part[] = [];
      for await (const part of next(input)) parts.push(part);
      yield* await changed(parts, call);
    },
  };
}

export function textsOf(output: Json, isParts: boolean): readonly string[] {
  if (!isParts) return [textOfJson(output)];
  return (output as unknown as readonly Part[]).flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

export function withText(output: Json, isParts: boolean, text: string): Json {
  if (!isParts) return text;
  const parts = output as unknown as readonly Part[];
  const first = parts.findIndex(({ type }) => type === 'text');
  return parts.flatMap((part, at): Part[] => (part.type !== 'text' ? [part] : at === first ? [{ type: 'text', text }] : []));
}
