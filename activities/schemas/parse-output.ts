import type { ParseOutputRequest, ParseOutputResult } from '../../contract/record/wire';
import type { OutputRegistry } from './outputs';

/** Reads the answer of an agent by the schema that it names. */
export function parseOutput(outputs: OutputRegistry, { output, text }: ParseOutputRequest): Promise<ParseOutputResult> {
  return outputs.parse(output, text);
}
