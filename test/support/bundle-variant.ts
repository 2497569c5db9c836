import { createHash } from 'node:crypto';
import type { WorkflowBundle } from '../../worker/bundle/bundle';

/** Replaces words in a bundle: another build without the seconds of bundling. */
export function variantOf({ code }: WorkflowBundle, words: string, others: string): WorkflowBundle {
  if (!code.includes(words)) throw new Error(`The bundle does not have "${words}".`);
  const changed = code.split(words).join(others);
  return { buildId: createHash('sha256').update(changed).digest('hex').slice(0, 16), code: changed };
}
