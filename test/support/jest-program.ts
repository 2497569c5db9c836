import { dirname, join } from 'node:path';

/** The program of Jest, for commands that start it and read its report. */
export const jestProgram = join(dirname(require.resolve('jest/package.json')), 'bin', 'jest.js');
