/**
 * In the project `conformance`, only `onEngines` and `onServer` define tests (through `holdfastTest`), because `cases` has played the rest.
 */
const each = (): (() => void) => () => undefined;
(globalThis as { holdfastTest?: unknown }).holdfastTest = globalThis.it;
globalThis.it = Object.assign(() => undefined, { each, concurrent: () => undefined }) as unknown as typeof globalThis.it;
