import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import { limits, utf8Length } from '../../contract/limits';
import type { CallToolInput } from '../../contract/record/wire';
import type { ToolCallRequest } from './ports';

export function toolInputOf(call: ToolCallRequest): CallToolInput {
  return {
    tool: call.tool,
    callId: call.callId,
    input: call.input,
    path: call.path,
    ...defined({ inputHash: call.inputHash, rawInput: call.rawInput, options: call.options }),
    ...(call.key === call.address ? {} : { key: call.key }),
    ...defined({ resumed: call.resumed }),
    ...(call.reconcile === true ? { reconcile: true as const } : {}),
    ...(call.workerMiddleware.length === 0 ? {} : { workerMiddleware: call.workerMiddleware }),
    ...(call.runLocal === undefined ? {} : { runLocal: call.runLocal.edit }),
    ...(call.hidden === true ? { hidden: true } : {}),
    ...defined({ about: call.about, author: call.author, mcp: call.mcp }),
    ...(call.stream === 'whole' ? {} : { stream: call.stream }),
  };
}

/** Refuses inputs above the server's limit. A text of n units has at most 3n bytes. */
export function checkedBytes(input: unknown, what: string): number {
  const text = JSON.stringify(input);
  const bytes = text.length * 3 < limits.payload ? text.length : utf8Length(text);
  if (bytes > limits.payload) {
    throw new HoldfastError('payload-too-large', `The input of ${what} has ${bytes} bytes; one step may carry ${limits.payload}.`);
  }
  return bytes;
}
