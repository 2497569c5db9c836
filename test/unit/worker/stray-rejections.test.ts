import type { HoldfastError } from '../../../contract/errors';
import { reportStrayRejections } from '../../../worker/stray-rejections';

const before = process.listeners('unhandledRejection');
const ours = (): NodeJS.UnhandledRejectionListener[] => process.listeners('unhandledRejection').filter((one) => !before.includes(one));

it('a rejection that nobody awaited is told once to each who asked, until they ask no more', () => {
  const told: string[] = [];
  const report = (problem: HoldfastError): void => void told.push(problem.message);
  const ends = [reportStrayRejections(report), reportStrayRejections((problem) => void told.push(problem.code))];
  expect(ours()).toHaveLength(1);
  const reject = (): void => ours()[0]?.(new Error('late'), Promise.resolve());
  reject();
  expect(told).toEqual(['A promise was rejected that nobody awaited, in code of the project: late', 'tool-failed']);
  for (const end of ends) end();
  reject();
  expect(told).toHaveLength(2);
});
