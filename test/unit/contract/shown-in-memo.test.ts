import { interruptsInMemo } from '../../../contract/record/shown-in-memo';
import { interruptMemoPrefix, names } from '../../../contract/names';

const question = (id: string): object => ({ id, kind: 'question', agent: 'desk', address: ['desk'], info: null });

describe('the interrupts that a change of the memo brings', () => {
  it('are in the order of their events, whatever order the fields have on the wire', () => {
    const values = {
      [`${interruptMemoPrefix}b`]: question('b'),
      [`${interruptMemoPrefix}a`]: question('a'),
      [names.memo.events]: [
        { type: 'interrupt-start', interrupt: 'a' },
        { type: 'interrupt-start', interrupt: 'b' },
      ],
    };
    expect(interruptsInMemo(values).shown.map(([id]) => id)).toEqual(['a', 'b']);
  });

  it('end where the field is null, and what is no interrupt is passed over', () => {
    const values = { [`${interruptMemoPrefix}a`]: null, [`${interruptMemoPrefix}b`]: 'anything', other: question('c') };
    expect(interruptsInMemo(values)).toEqual({ shown: [], ended: ['a'] });
  });
});
