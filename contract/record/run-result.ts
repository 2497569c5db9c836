import type { AgentRunResult } from './wire';

export function textOfResult({ output, text }: AgentRunResult): string {
  return text ?? (typeof output === 'string' ? output : JSON.stringify(output));
}
