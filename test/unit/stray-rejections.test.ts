import type { HoldfastError } from '../../contract/errors';
import { StrayRejections } from '../../worker/stray-rejections';

const before = process.listeners('unhandledRejection');
afterEach(() => {
  for (const listener of process.listeners('unhandledRejection'))
    if (!before.includes(listener)) process.off('unhandledRejection', listener);
});

function rejected(reason: unknown): void {
  for (const listener of process.listeners('unhandledRejection')) if (!before.includes(listener)) listener(reason, Promise.resolve());
}

describe('rejections that nobody awaited', () => {
  const ofWorkflow = (reason: unknown): void => {
    console.error('Unhandled rejection');
    if ((reason as Error).message !== 'of a workflow') throw reason;
  };

  it.each([
    ['before a worker begins', false],
    ['also when the SDK begins to listen later', true],
  ])('are told once, %s', async (_, isLater) => {
    const strays = new StrayRejections();
    const told: string[] = [];
    const report = (problem: HoldfastError): void => void told.push(problem.message);
    strays.report(report);
    strays.report(report);
    if (isLater) await strays.guard(async () => void process.on('unhandledRejection', ofWorkflow));
    const silent = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    rejected(new Error('late'));
    if (isLater) rejected(new Error('of a workflow'));
    expect(told).toEqual(['A promise was rejected that nobody awaited, in code of the project: late']);
    expect(silent).not.toHaveBeenCalled();
  });
});
