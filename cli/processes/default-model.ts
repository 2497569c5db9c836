import { codeOf, messageOf } from '../../contract/errors';
import type { HoldfastWorker } from '../../worker/create-worker';

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

export function missingModels({ parts: { models } }: HoldfastWorker, named: readonly string[]): readonly string[] {
  return named.flatMap((name) => {
    if (name === 'default') return [];
    try {
      models.idOf(name);
      return [];
    } catch (error) {
      // Middleware replaces unknown model names.
      return codeOf(error) === 'model-key-missing' ? [`${name} → none (${messageOf(error)})`] : [];
    }
  });
}
