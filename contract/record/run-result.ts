import { textOfJson } from '../messages/messages';
import type { AgentRunResult } from './wire';

export function textOfResult({ output, text }: AgentRunResult): string {
  return text ?? textOfJson(output);
}
