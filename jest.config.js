/** Tests run on the TypeScript source; `tsc -b` checks the types before. */
const base = {
  testEnvironment: '<rootDir>/test/support/environment.js',
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } }] },
  moduleNameMapper: {
    '^(@temporalio/worker/lib|\\.)/workflow/bundler$': '<rootDir>/test/support/shared/temporalio-bundler.js',
    '^@temporalio/proto$': '<rootDir>/test/support/shared/temporalio-proto.js',
    '^jose$': '<rootDir>/test/support/shared/jose.js',
    '^protobufjs$': '<rootDir>/test/support/shared/protobufjs.js',
    '^protobufjs/ext/protojson$': '<rootDir>/test/support/shared/protobufjs-ext-protojson.js',
    '^holdfast/package\\.json$': '<rootDir>/package.json',
    '^holdfast$': '<rootDir>/service/project/index.ts',
    '^holdfast/service$': '<rootDir>/service/index.ts',
    '^holdfast/middleware$': '<rootDir>/middleware/index.ts',
    '^holdfast/callbacks$': '<rootDir>/middleware/callbacks/index.ts',
    '^holdfast/eino$': '<rootDir>/middleware/forms/index.ts',
    '^holdfast/workflow$': '<rootDir>/workflows/index.ts',
    '^holdfast/worker$': '<rootDir>/worker/index.ts',
    '^holdfast/client$': '<rootDir>/client/index.ts',
    '^holdfast/http$': '<rootDir>/http/index.ts',
    '^holdfast/testing$': '<rootDir>/testing/index.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.holdfast/'],
};

const real = { globalSetup: '<rootDir>/test/support/start-server.ts', globalTeardown: '<rootDir>/test/support/stop-server.ts' };

module.exports = {
  // On two cores, too: a test that waits for a server or for a process leaves them to others.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/long-first.js',
  // Tests that wait do it together. More of them would only make each other late.
  maxConcurrency: 3,
  testTimeout: 60_000,
  projects: [
    { ...base, displayName: 'unit', testMatch: ['<rootDir>/test/{unit,rules}/**/*.test.ts'] },
    {
      ...base,
      ...real,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/integration/**/*.test.ts', '<rootDir>/test/replay/**/*.test.ts'],
    },
    // The cases in memory: a part of `npm test`.
    { ...base, displayName: 'cases', testMatch: ['<rootDir>/test/conformance/**/*.test.ts'], globals: { holdfastEngines: ['memory'] } },
    // And on every engine that they name: `npm run conformance`.
    {
      ...base,
      ...real,
      displayName: 'conformance',
      globalSetup: '<rootDir>/test/conformance/start-server.ts',
      testMatch: ['<rootDir>/test/conformance/**/*.test.ts'],
    },
    { ...base, ...real, displayName: 'kill', testMatch: ['<rootDir>/test/kill/**/*.test.ts'] },
    { ...base, displayName: 'host', testMatch: ['<rootDir>/test/host/**/*.test.ts'] },
    {
      ...base,
      ...real,
      displayName: 'product',
      testMatch: ['<rootDir>/test/product/**/*.test.ts'],
      // Commands load modules when they need them, by the names that they have when they are compiled.
      moduleNameMapper: { ...base.moduleNameMapper, '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1'] },
    },
    // Each takes more than half a minute: `npm run long`.
    { ...base, ...real, displayName: 'long', testMatch: ['<rootDir>/test/long/**/*.test.ts'] },
    // In Chromium: `npm run browser`.
    { ...base, displayName: 'browser', testMatch: ['<rootDir>/test/browser/**/*.test.ts'] },
    // Measures time, or takes the disk from others: a part of `npm run long`, one after another.
    { ...base, ...real, displayName: 'alone', testMatch: ['<rootDir>/test/alone/**/*.test.ts'] },
  ],
};
