const inTool = 'use it in a tool, or in a worker middleware';
const imported = 'write `import`, or use the module in a tool';

const instead: ReadonlyMap<string, string> = new Map([
  ...['fetch', 'Request', 'Response', 'Headers', 'FormData', 'Blob', 'WebSocket', 'EventSource', 'XMLHttpRequest'].map(
    (name) => [name, inTool] as const,
  ),
  ...[
    'Buffer',
    'crypto',
    'performance',
    'navigator',
    'localStorage',
    'URL',
    'URLSearchParams',
    'structuredClone',
    'setImmediate',
    'queueMicrotask',
  ].map((name) => [name, inTool] as const),
  ['process', 'read it in a tool, or give what it has with the input of the run'],
  ...['require', 'module', 'exports', '__dirname', '__filename'].map((name) => [name, imported] as const),
]);

export function withSandboxHint(message: string): string {
  const missing = /^(?:ReferenceError: )?(\w+) is not defined\.?$/.exec(message)?.[1];
  const name = missing ?? /^(fetch) failed$/.exec(message)?.[1];
  const hint = name === undefined ? undefined : instead.get(name);
  if (hint === undefined) return message;
  return `${missing === undefined ? message : `${missing} is not defined`}. The sandbox has no ${name}: ${hint}.`;
}
