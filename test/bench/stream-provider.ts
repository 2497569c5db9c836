/** Model `100x300` says 300 tokens, 100 a second; each token is the time of writing. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { now } from './report/numbers';

function chunk(delta: object, finish: string | null = null, usage?: object): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', created: 0, model: 'bench', choices, usage })}\n\n`;
}

function talk(response: ServerResponse, rate: number, tokens: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const begun = now();
  let said = 0;
  const timer = setInterval(() => {
    // A late timer catches up, so that the rate holds.
    while (said < tokens && now() >= begun + (said * 1000) / rate) {
      response.write(chunk({ ...(said === 0 ? { role: 'assistant' } : {}), content: `${now()} ` }));
      said += 1;
    }
    if (said < tokens) return;
    clearInterval(timer);
    response.end(`${chunk({}, 'stop', { prompt_tokens: 10, completion_tokens: tokens, total_tokens: tokens + 10 })}data: [DONE]\n\n`);
  }, 2);
  response.on('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (data) => (body += String(data)));
  request.on('end', () => {
    const [rate = 0, tokens = 0] = (JSON.parse(body) as { model: string }).model.split('x').map(Number);
    talk(response, rate, tokens);
  });
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}/v1`));
