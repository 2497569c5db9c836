import type { People } from '../../contract/people';
import { people } from '../../contract/people';
import type { Ports } from './ports';

/** Names as a run compares them. One of before compares letter by letter. */
export function peopleOf(ports: Pick<Ports, 'knowsSecondEyes'>): People {
  return {
    isAsked: (asked, name) => asked === name || (people.isAsked(asked, name) && ports.knowsSecondEyes()),
    isSame: (one, other) => one === other || (people.isSame(one, other) && ports.knowsSecondEyes()),
  };
}
