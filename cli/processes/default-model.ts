import { codeOf, messageOf } from '../../contract/errors';
import type { HoldfastWorker } from '../../worker/create-worker';

/** The model that agents get who name none, and what is missing for a real one. */
export function defaultModel({ parts: { models } }: HoldfastWorker): string {
  try {
    const id = models.idOf('default');
    return id.startsWith('demo/')
      ? `${id} (a few rules, no AI; ${models.realModelAdvice.replace(/^./, (first) => first.toLowerCase())})`
      : id;
  } catch (error) {
    return `none (${codeOf(error) ?? 'error'}: ${messageOf(error)})`;
  }
}

/** What the other models that agents name lack, such as a key, one line each. */
export function missingModels({ parts: { models } }: HoldfastWorker, named: readonly string[]): readonly string[] {
  return named.flatMap((name) => {
    if (name === 'default') return [];
    try {
      models.idOf(name);
      return [];
    } catch (error) {
      // A name that nothing explains is one that middleware replaces.
      return codeOf(error) === 'model-key-missing' ? [`${name} → none (${messageOf(error)})`] : [];
    }
  });
}
