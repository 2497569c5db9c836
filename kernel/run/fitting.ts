import { HoldfastError } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';
import type { AgentRunInput } from '../../contract/record/wire';
import { bytesOfChanges } from './weight';

/** The input of the next execution, if a server takes it. What readers see until the next model call may be dropped. */
export function fitting(next: AgentRunInput): AgentRunInput {
  const { start, snapshot } = next;
  if (start.externalStorage === true) return next;
  const bytes = jsonSize(next);
  if (bytes <= limits.inlineSnapshot || bytes - bytesOfChanges(next) <= limits.inlineSnapshot) return next;
  if (snapshot?.seen !== undefined) {
    const { seen: _, ...needed } = snapshot;
    return fitting({ start, snapshot: needed });
  }
  throw new HoldfastError(
    'transcript-too-large',
    `The state of the run has ${bytes} bytes at a continue-as-new; without external storage ${limits.inlineSnapshot} fit.`,
  );
}
