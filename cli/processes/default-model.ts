import { codeOf, messageOf } from '../../contract/errors';
import type { HoldfastWorker } from '../../worker/create-worker';

/** The default model of agents, and what a real model needs. */
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

/** A line for every other model of agents that lacks a key. */
export function missingModels({ parts: { models } }: HoldfastWorker, named: readonly string[]): readonly string[] {
  return named.flatMap((name) => {
    if (name === 'default') return [];
    try {
      models.idOf(name);
      return [];
    } catch (error) {
      // Middleware replaces models with unknown names.
      return codeOf(error) === 'model-key-missing' ? [`${name} → none (${messageOf(error)})`] : [];
    }
  });
}
