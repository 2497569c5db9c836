const { AsyncLocalStorage } = require('node:async_hooks');
const { TestEnvironment } = require('jest-environment-node');

/** Every storage in use is looked at for every promise of the process, also when the test file that made it has ended. */
const used = new Set();
for (const way of ['run', 'enterWith']) {
  const plain = AsyncLocalStorage.prototype[way];
  AsyncLocalStorage.prototype[way] = function (...given) {
    used.add(this);
    return plain.apply(this, given);
  };
}

/**
 * Modules of Jest are loaded anew for each test file, those of Node are not. The messages of Temporal's protocol are thousands, and code that
 * encodes and decodes them is made at their first use: so the test files of a process share them, through the files in `shared`.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.sharedModule = (name) => require(name);
  }

  async teardown() {
    for (const storage of used) storage.disable();
    used.clear();
    await super.teardown();
  }
};
