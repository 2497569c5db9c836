import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';

/** The page of docs/guides/ai-sdk-ui.md for people who do not decide. `?chat=`, `?by=` and `?secret=` identify the page's user. */
const script = `
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, getToolName, isToolUIPart } from 'ai';
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';

const { chat, by, secret } = Object.fromEntries(new URLSearchParams(location.search));
const api = document.body.dataset.service + '/aisdk/claims';
const { messages: before } = await (await fetch(api + '/' + chat + '/messages?by=' + by)).json();
const from = before.at(-1)?.metadata.holdfast.offset ?? 0;
const stream = api + '/' + chat + '/stream?by=' + by + '&until=end&from=' + from;
const transport = new DefaultChatTransport({
  api,
  body: { by, values: { secret }, until: 'end' },
  prepareReconnectToStreamRequest: () => ({ api: stream }),
});

function partOf(part, key) {
  if (part.type === 'text') return h('p', { key }, part.text);
  if (!isToolUIPart(part)) return null;
  return h('code', { key, 'data-tool': getToolName(part), 'data-state': part.state }, JSON.stringify([part.input, part.output]));
}
function Page() {
  const { messages, sendMessage, error } = useChat({ id: chat, messages: before, resume: true, transport });
  return h('main', {},
    messages.map(({ id, role, parts }) => h('section', { key: id, 'data-role': role }, parts.map(partOf))),
    error && h('p', { role: 'alert' }, error.message),
    h('button', { onClick: () => void sendMessage({ text: 'My teapot broke.' }) }, 'Claim'));
}
createRoot(document.getElementById('page')).render(h(Page));
`;

export interface DeskPages {
  readonly url: string;
  serveFor(service: string): void;
  close(): Promise<void>;
}

export async function openDeskPages(): Promise<DeskPages> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: __dirname },
    bundle: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const [{ text } = { text: '' }] = outputFiles;
  let service = '';
  const server = createServer(({ url = '/' }, response) => {
    if (url === '/page.js') return response.setHeader('content-type', 'text/javascript').end(text);
    const body = `<body data-service="${service}"><div id="page"></div><script type="module" src="/page.js"></script></body>`;
    return response.setHeader('content-type', 'text/html').end(`<!doctype html><meta charset="utf-8"><title>Claims</title>${body}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serveFor: (url) => (service = url),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
