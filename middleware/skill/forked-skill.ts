import type { Skill } from './skills';

/** A skill that an agent of its own is to do. The model is told what it lacks. */
export function forkedSkill({ name, context = '' }: Skill): never {
  throw new Error(
    `The skill "${name}" has context: ${context}, which needs an agent of its own, and this agent has none for skills. Go on without it.`,
  );
}
