import { whenProcessEnds } from '../../worker/process-ends';

it('all workers of a process hear of its end through one listener, which goes with the last of them', () => {
  const before = process.listeners('exit');
  const added = (): NodeJS.ExitListener[] => process.listeners('exit').filter((listener) => !before.includes(listener));
  const heard: string[] = [];
  const forgets = Array.from({ length: 20 }, (_, worker) => whenProcessEnds((code) => void heard.push(`${worker} ${code}`)));
  expect(added()).toHaveLength(1);
  for (const forget of forgets.slice(2)) forget();
  added()[0]?.(3);
  expect(heard).toEqual(['0 3', '1 3']);
  for (const forget of forgets) forget();
  expect(added()).toEqual([]);
});
