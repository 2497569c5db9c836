import type { Hono } from 'hono';
import { packageVersion } from '../package-version';
import { Routes, ok } from '../routes';
import type { OpenApi } from './document';
import { openApiOf } from './document';
import { createHash } from 'node:crypto';

export function openApiRoutes(app: Hono): Hono {
  let document: OpenApi | undefined;
  const made = (): OpenApi => (document ??= openApiOf(packageVersion(), app));
  return new Routes('Service')
    .add('GET /openapi.json', { may: 'anybody', summary: 'This document.', answers: ok('OpenApi', 'OpenAPI 3.1.') }, () => ({ ...made() }))
    .add(
      'GET /openapi',
      { may: 'anybody', summary: 'This document as a page.', answers: { 200: { says: 'A page.', type: 'text/html' } } },
      ({ context }) => {
        context.header('content-security-policy', pagePolicy);
        return context.html(openApiPage(made()));
      },
    ).app;
}

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}
h2{margin-top:2rem}summary{cursor:pointer;padding:.35rem 0}code,pre{font:13px/1.45 ui-monospace,monospace}
pre{overflow:auto;padding:.75rem;border:1px solid #8886;border-radius:4px}.method{display:inline-block;min-width:4.5rem;font-weight:600}`;

const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`;

function openApiPage({ info, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const groups = [...new Set(operations.map(({ operation }) => groupOf(operation)))];
  const sections = groups.map((group) => {
    const items = operations
      .filter(({ operation }) => groupOf(operation) === group)
      .map(({ path, method, operation }) => {
        const { summary, tags: _, operationId: __, ...rest } = operation;
        const head = `<span class="method">${escaped(method)}</span><code>${escaped(path)}</code> ${escaped(String(summary))}`;
        return `<details><summary>${head}</summary><pre>${escaped(JSON.stringify(rest, null, 2))}</pre></details>`;
      });
    return `<h2>${escaped(group)}</h2>\n${items.join('\n')}`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details><summary><code>${escaped(name)}</code></summary><pre>${escaped(JSON.stringify(schema, null, 2))}</pre></details>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)} ${escaped(info.version)}: HTTP</title><style>${style}</style></head>
<body><h1>${escaped(info.title)} ${escaped(info.version)}</h1><p>${escaped(info.description)} <a href="openapi.json">openapi.json</a></p>
${sections.join('\n')}
<h2>Schemas</h2>
${schemas.join('\n')}
</body></html>
`;
}

function groupOf(operation: Readonly<Record<string, unknown>>): string {
  const [group = ''] = operation['tags'] as readonly string[];
  return group;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
