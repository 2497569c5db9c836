const { TestEnvironment } = require('jest-environment-node');

/**
 * Modules of Jest are loaded anew for each test file, those of Node are not. The messages of Temporal's protocol are thousands, and code that
 * encodes and decodes them is made at their first use: so the test files of a process share them, through the files in `shared`.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.sharedModule = (name) => require(name);
  }
};
