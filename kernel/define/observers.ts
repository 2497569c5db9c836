import type { AgentObserver } from './definition';

const functions = ['onStart', 'onEnd', 'onError'];

/** Refuses what does more than look on, or nothing at all. */
export function checkedObservers(observers: unknown, refuse: (problem: string) => never): readonly AgentObserver[] {
  if (observers === undefined) return [];
  if (!Array.isArray(observers)) return refuse('observers are a list.');
  const names = new Set<string>();
  for (const [position, observer] of (observers as readonly unknown[]).entries()) {
    const { name, ...others } = (observer ?? {}) as Record<string, unknown>;
    const entry = `entry ${position + 1} of its observers`;
    if (typeof name !== 'string' || name === '') return refuse(`${entry} has no name; every observer needs one.`);
    if (names.has(name)) return refuse(`two of its observers are named "${name}".`);
    names.add(name);
    const given = Object.keys(others).filter((field) => others[field] !== undefined);
    const other = given.find((field) => !functions.includes(field) || typeof others[field] !== 'function');
    if (other !== undefined)
      return refuse(`${entry} has "${other}"; an observer has the functions ${functions.join(', ')} and nothing else.`);
    if (given.length === 0) return refuse(`${entry} has none of ${functions.join(', ')}.`);
  }
  return observers as readonly AgentObserver[];
}
