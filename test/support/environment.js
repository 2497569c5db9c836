const { AsyncLocalStorage } = require('node:async_hooks');
const vm = require('node:vm');
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
 * Jest compiles each module anew for each test file, with an option that keeps V8 from knowing the text again. A script knows no context: the
 * test files of a process share its code, and each runs it in its own.
 */
const compiled = new Map();
const compileAlone = vm.compileFunction;
vm.compileFunction = (code, parameters = [], { filename, parsingContext, ...rest } = {}) => {
  if (!filename || !parsingContext || /\.test\.ts$/.test(filename))
    return compileAlone(code, parameters, { filename, parsingContext, ...rest });
  const before = `(function (${parameters.join(', ')}) {`;
  const known = compiled.get(filename);
  const script =
    known?.code === code && known.before === before
      ? known.script
      : new vm.Script(`${before}${code}\n})`, { filename, columnOffset: -before.length });
  compiled.set(filename, { code, before, script });
  return script.runInContext(parsingContext);
};

/**
 * The bundler of Temporal's SDK, for all test files of a process: webpack takes a second to load, and runs slower where Jest looks at each global. What
 * a test gives it comes from other globals, and webpack asks of a plugin that its function is one of its own.
 */
const bundlerOfAll = () => {
  const bundler = require('@temporalio/worker/lib/workflow/bundler');
  const ofHere = (plugin) => (plugin ? { apply: (compiler) => plugin.apply(compiler) } : plugin);
  class WorkflowCodeBundler extends bundler.WorkflowCodeBundler {
    constructor(options) {
      super(options);
      const hook = this.webpackConfigHook;
      this.webpackConfigHook = (given) => {
        const config = hook(given);
        return { ...config, plugins: config.plugins?.map(ofHere) };
      };
    }
  }
  return { ...bundler, WorkflowCodeBundler, bundleWorkflowCode: (options) => new WorkflowCodeBundler(options).createBundle() };
};

/**
 * Modules of Jest are loaded anew for each test file, those of Node are not. The messages of Temporal's protocol are thousands, and code that
 * encodes and decodes them is made at their first use: so the test files of a process share them, through the files in `shared`.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.sharedModule = (name) => (name === '@temporalio/worker/lib/workflow/bundler' ? bundlerOfAll() : require(name));
  }

  async teardown() {
    for (const storage of used) storage.disable();
    used.clear();
    await super.teardown();
  }
};
