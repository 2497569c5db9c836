import { createHash } from 'node:crypto';
import type { WorkflowBundle } from '../../worker/bundle';

/** The same agents with other words in them: another build, without the seconds that bundling takes. */
export function variantOf({ code }: WorkflowBundle, words: string, others: string): WorkflowBundle {
  if (!code.includes(words)) throw new Error(`The bundle does not have "${words}".`);
  const changed = code.split(words).join(others);
  return { buildId: createHash('sha256').update(changed).digest('hex').slice(0, 16), code: changed };
}
