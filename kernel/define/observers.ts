import type { Refuse } from '../../contract/check';
import { checkFields, filled, func, listOf, required, shape } from '../../contract/check';
import type { AgentObserver } from './definition';

const functions = { onStart: func, onEnd: func, onError: func };
const observersForm = listOf(
  shape({ name: required(filled), ...functions }, `an observer with a name and ${Object.keys(functions).join(', ')}`),
  'an array of observers',
);

export function checkedObservers(observers: unknown, refuse: Refuse): readonly AgentObserver[] {
  checkFields({ observers }, { observers: observersForm }, refuse);
  const checked = (observers ?? []) as readonly AgentObserver[];
  const names = new Set<string>();
  for (const [position, observer] of checked.entries()) {
    if (names.has(observer.name)) refuse(`two of its observers are named "${observer.name}".`);
    names.add(observer.name);
    if (!Object.entries(observer).some(([field, value]) => field in functions && value !== undefined))
      refuse(`observers[${position}] has none of ${Object.keys(functions).join(', ')}.`);
  }
  return checked;
}
