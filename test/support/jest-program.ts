import { dirname, join } from 'node:path';

export const jestProgram = join(dirname(require.resolve('jest/package.json')), 'bin', 'jest.js');
