import { scriptOf } from '../../parity/generate';
import { lead } from '../../parity/play';
import { tableInMemory } from '../../parity/tables';

it('in memory, too, a worker that is back has all answers before a call of its run comes back', async () => {
  // The first answer decides a race, the second answers another branch. No call of the script takes time.
  const { end, moves } = await lead(scriptOf('344775/16'), 'absence', tableInMemory);
  expect(moves.flatMap(({ acts }) => acts).filter((act) => act.do === 'answer' && act.refused !== undefined)).toEqual([]);
  expect(end.log.filter(({ type }) => type === 'resume-ignored' || type === 'tool-end').map(({ type }) => type)).toEqual([
    'resume-ignored',
    'tool-end',
    'tool-end',
  ]);
});
