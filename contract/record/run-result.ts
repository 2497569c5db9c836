import type { AgentRunResult } from './wire';

/** What a run said last. */
export function textOfResult({ output, text }: AgentRunResult): string {
  return text ?? (typeof output === 'string' ? output : JSON.stringify(output));
}
