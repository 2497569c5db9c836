const { readFileSync, readdirSync } = require('node:fs');
const { representatives, smoke } = require('./test/tiers');

/** Tests run on the TypeScript source; `tsc -b` checks the types before. */
const base = {
  testEnvironment: '<rootDir>/test/support/environment.js',
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } }] },
  moduleNameMapper: {
    '^(@temporalio/worker/lib|\\.)/workflow/bundler$': '<rootDir>/test/support/shared/temporalio-bundler.js',
    '^@temporalio/proto$': '<rootDir>/test/support/shared/temporalio-proto.js',
    '^jose$': '<rootDir>/test/support/shared/jose.js',
    '^@octokit/webhooks-methods$': '<rootDir>/test/support/shared/webhooks-methods.js',
    '^openid-client$': '<rootDir>/test/support/shared/openid-client.js',
    '^protobufjs$': '<rootDir>/test/support/shared/protobufjs.js',
    '^protobufjs/ext/protojson$': '<rootDir>/test/support/shared/protobufjs-ext-protojson.js',
    // Modules that load late have the names that they have when they are compiled.
    '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1'],
    '^holdfast/package\\.json$': '<rootDir>/package.json',
    '^holdfast$': '<rootDir>/service/project/index.ts',
    '^holdfast/service$': '<rootDir>/service/index.ts',
    '^holdfast/middleware$': '<rootDir>/middleware/index.ts',
    '^holdfast/callbacks$': '<rootDir>/middleware/callbacks/index.ts',
    '^holdfast/eino$': '<rootDir>/middleware/forms/index.ts',
    '^holdfast/workflow$': '<rootDir>/workflows/index.ts',
    '^holdfast/worker$': '<rootDir>/worker/index.ts',
    '^holdfast/client$': '<rootDir>/client/index.ts',
    '^holdfast/http$': '<rootDir>/client/http/index.ts',
    '^holdfast/testing$': '<rootDir>/testing/index.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.holdfast/'],
};

const server = {
  globalSetup: '<rootDir>/test/support/start-server.ts',
  globalTeardown: '<rootDir>/test/support/stop-server.ts',
};
const filesOf = (...folders) => folders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`);
const casesOnEngines = readdirSync(`${__dirname}/test/conformance`)
  .filter((name) => name.endsWith('.test.ts') && /^\s*onEngines\(/m.test(readFileSync(`${__dirname}/test/conformance/${name}`, 'utf8')))
  .map((name) => `<rootDir>/test/conformance/${name}`);
const named = (names) => names.map((name) => `<rootDir>/test/${name}.test.ts`);

/** The tiers: `npm test` plays unit, cases and server, `npm run system` system and conformance, `npm run nightly` nightly (CONTRIBUTING.md, Tests). */
module.exports = {
  // On two cores, too: a test that waits for a server or for a process leaves the cores to other tests.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/long-first.js',
  // Tests that wait do it together. More of them would only make each other late.
  maxConcurrency: 3,
  // A busy machine may take its time: this limit only ends a test that hangs.
  testTimeout: 240_000,
  projects: [
    { ...base, displayName: 'unit', testMatch: filesOf('unit', 'rules') },
    // The cases of both specifications in memory.
    { ...base, displayName: 'cases', testMatch: filesOf('conformance'), globals: { holdfastEngine: 'memory' } },
    { ...base, ...server, displayName: 'server', testMatch: named(representatives) },
    {
      ...base,
      ...server,
      displayName: 'system',
      testMatch: [...filesOf('integration', 'replay', 'kill', 'host', 'product'), ...named(smoke)],
      testPathIgnorePatterns: named(representatives).map((path) => `^${path}$`),
    },
    // The same cases on a server.
    {
      ...base,
      ...server,
      displayName: 'conformance',
      globalSetup: '<rootDir>/test/conformance/start-server.ts',
      testMatch: casesOnEngines,
      globals: { holdfastEngine: 'temporal' },
      setupFilesAfterEnv: ['<rootDir>/test/conformance/on-server-only.ts'],
    },
    {
      ...base,
      ...server,
      displayName: 'nightly',
      testMatch: filesOf('nightly', 'browser'),
      testPathIgnorePatterns: named(smoke).map((path) => `^${path}$`),
    },
  ],
};
