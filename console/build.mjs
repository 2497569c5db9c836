import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

// Bundles the console into dist/console: hashed files, with a script for each page.
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, 'dist', 'console');
mkdirSync(out, { recursive: true });

const common = {
  absWorkingDir: root,
  outdir: out,
  entryNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'none',
  metafile: true,
};
const table = join(root, 'contract', 'error-table.ts');
const { code: tableScript } = await transform(readFileSync(table, 'utf8'), { loader: 'ts', format: 'esm' });
const { errorTable } = await import(`data:text/javascript,${encodeURIComponent(tableScript)}`);

// Contract modules have no side effects, so unused modules are dropped. The error texts (5 KB) load as a script of their own
// (parts/error-note.tsx).
const contract = {
  name: 'contract',
  setup(bundle) {
    bundle.onResolve({ filter: /^\.\.?\// }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === 'resolved') return undefined;
      const found = await bundle.resolve(path, { importer, resolveDir, kind, pluginData: 'resolved' });
      if (found.path === table && importer.startsWith(dirname(table))) return { path: table, namespace: 'error-codes', sideEffects: false };
      if (found.path.startsWith(dirname(table))) return { ...found, sideEffects: false };
      return kind === 'dynamic-import' ? { ...found, pluginData: 'script' } : undefined;
    });
    bundle.onLoad({ filter: /\.tsx$/ }, ({ path, pluginData }) => {
      if (pluginData !== 'script') return undefined;
      return { contents: `import ${JSON.stringify(join(root, 'console', 'common'))};${readFileSync(path, 'utf8')}`, loader: 'tsx' };
    });
    bundle.onLoad({ filter: /./, namespace: 'error-codes' }, () => ({
      contents: `export const errorTable = Object.fromEntries(${JSON.stringify(Object.keys(errorTable).join(' '))}.split(' ').map((code) => [code, {}]))`,
    }));
  },
};

const pages = await build({
  ...common,
  plugins: [contract],
  entryPoints: { app: 'console/main.tsx' },
  chunkNames: 'part-[hash]',
  format: 'esm',
  splitting: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
});
// The theme blocks the first paint.
const others = await build({
  ...common,
  entryPoints: { theme: 'console/theme.ts', style: 'console/style/index.css', icon: 'console/style/icon.svg' },
  format: 'iife',
  loader: { '.svg': 'copy' },
});

const made = { ...pages.metafile.outputs, ...others.metafile.outputs };
const files = Object.keys(made).map((path) => basename(path));
const nameOf = (start, end) => files.find((file) => file.startsWith(`${start}-`) && file.endsWith(end));
const app = nameOf('app', '.js');
const shared = Object.entries(made)
  .find(([path]) => basename(path) === app)[1]
  .imports.filter(({ kind }) => kind === 'import-statement')
  .map(({ path }) => `<link rel="modulepreload" href="/console/${basename(path)}">\n`);
writeFileSync(
  join(out, 'index.html'),
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Holdfast</title>
<link rel="icon" type="image/svg+xml" href="/console/${nameOf('icon', '.svg')}">
<link rel="stylesheet" href="/console/${nameOf('style', '.css')}">
<script src="/console/${nameOf('theme', '.js')}"></script>
${shared.join('')}<script type="module" src="/console/${app}"></script>
</head>
<body><div id="app"></div><noscript>The console of Holdfast needs JavaScript.</noscript></body>
</html>
`,
);

// Licenses of bundled packages must be included.
const inputs = Object.keys({ ...pages.metafile.inputs, ...others.metafile.inputs });
const packages = [...new Set(inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []))];
const licenses = packages.sort().map((name) => `${name}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')}`);
writeFileSync(join(out, 'licenses.txt'), licenses.join('\n----\n\n'));

const kept = new Set([...files, 'index.html', 'licenses.txt']);
for (const file of readdirSync(out)) if (!kept.has(file)) rmSync(join(out, file), { recursive: true });
