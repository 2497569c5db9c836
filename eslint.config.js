const tseslint = require('typescript-eslint');

/** What a folder may import: contract <- kernel <- middleware <- workflows; host <- activities, client, worker; and so on. */
function border(folder, ...forbidden) {
  return {
    files: [`${folder}/**/*.ts`, `${folder}/**/*.tsx`, `${folder}.ts`],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: forbidden.map((name) => ({
            regex: name.startsWith('@') || !name.includes('/') ? `^(node:)?${name}` : `^(\\.\\./)+${name}`,
            message: `${folder} must not import ${name}.`,
            allowTypeImports: true,
          })),
        },
      ],
    },
  };
}

const sandboxed = [
  'zod',
  'node:',
  'fs',
  '@temporalio/client',
  '@temporalio/worker',
  '@temporalio/activity',
  'activities/',
  'worker/',
  'client/',
  'host/',
  'service/',
  'cli/',
];

module.exports = tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.holdfast/', 'sandbox.d.ts', 'test/product/fixtures/', 'docs/'] },
  {
    files: ['**/*.ts', 'console/**/*.tsx'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.eslint.json', tsconfigRootDir: __dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowNever: true }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
        { selector: 'ExportAllDeclaration', message: 'Export by name.' },
        {
          selector:
            "CallExpression[callee.object.name='AbortSignal'][callee.property.name='any'] MemberExpression[property.name='timeout']",
          message: 'Node collects the timeout: use keptTimeout.',
        },
      ],
    },
  },
  // The console is compiled with the types of a browser.
  {
    files: ['console/**/*.ts', 'console/**/*.tsx'],
    languageOptions: { parserOptions: { project: './console/tsconfig.json', tsconfigRootDir: __dirname } },
  },
  border('kernel', '@temporalio', ...sandboxed, 'testing/', 'middleware/', 'workflows/'),
  border('contract', '@temporalio', ...sandboxed, 'kernel/', 'testing/', 'middleware/', 'workflows/'),
  border(
    'console',
    '@temporalio',
    ...sandboxed.filter((name) => name !== 'service/' && name !== 'client/'),
    'client/(?!http/)',
    'kernel/',
    'middleware/',
    'workflows/',
    'testing/',
  ),
  border('middleware', '@temporalio', ...sandboxed),
  // The worker half of a built-in runs in Node, as activities do.
  {
    ...border('middleware', '@temporalio', 'worker/', 'client/', 'service/', 'cli/', 'workflows/'),
    files: ['middleware/**/worker.ts', 'middleware/*/worker/*.ts'],
  },
  border('workflows', ...sandboxed),
  border('host', '@temporalio/worker', 'kernel/', 'activities/', 'worker/', 'client/', 'service/', 'cli/'),
  border('activities', 'worker/', 'client/', 'service/', 'cli/', 'workflows/'),
  border('client', '@temporalio/worker', '@temporalio/activity', 'kernel/', 'activities/', 'worker/', 'service/', 'cli/'),
  border('service', '@temporalio/worker', 'worker/', 'cli/'),
  border('worker', 'client/', 'service/', 'cli/'),
  border('testing', 'service/', 'cli/'),
  // A later entry replaces the rule of an earlier one, so folders within folders come last.
  border('testing/memory', '@temporalio', ...sandboxed, 'middleware/', 'workflows/'),
  // A browser has it.
  border('client/http', '@temporalio', ...sandboxed, 'kernel/', 'testing/', 'middleware/', 'workflows/'),
  {
    files: ['host/**/*.ts', '**/*.test.ts', 'test/**/*.ts', 'examples/**/*.ts', '**/*.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  // What `holdfast init` writes imports the doors alone. `test` of Node gives a promise that the runner waits for.
  border('cli/templates', '\\.\\.'),
  {
    files: ['cli/templates/**/*.test.ts', 'examples/**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }] },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
);
