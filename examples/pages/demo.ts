/** Argument: the port of the pages. */
import { once } from 'node:events';
import { openPages } from './open-pages';

async function main(port: number): Promise<void> {
  const { url, close } = await openPages(port, (text) => void process.stderr.write(text));
  console.log(`
Open in a browser:
  ${url}/chat    useChat of AI SDK
  ${url}/agui    the client of AG-UI
Ctrl-C closes them.`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await close();
}

void main(Number(process.argv[2] ?? 5173));
