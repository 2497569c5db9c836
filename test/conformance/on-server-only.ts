/**
 * In the project `conformance` a file has only the tests that `onEngines` and `onServer` define: the project `cases` has played all others. Both
 * define their tests by `holdfastTest`.
 */
const each = (): (() => void) => () => undefined;
(globalThis as { holdfastTest?: unknown }).holdfastTest = globalThis.it;
globalThis.it = Object.assign(() => undefined, { each, concurrent: () => undefined }) as unknown as typeof globalThis.it;
