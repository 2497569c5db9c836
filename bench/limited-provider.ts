/**
 * A provider that speaks the wire format of OpenAI's chat completions, takes some requests at a time, each for a while, and answers the others with 429.
 * Arguments: how many, and for how many milliseconds. Prints its address. Asked by IPC, it tells what it has seen.
 */
import { createServer } from 'node:http';

const [atOnce = 5, ms = 500] = process.argv.slice(2).map(Number);
const seen = { requests: 0, refused: 0, first: 0, last: 0 };
let now = 0;

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    seen.requests += 1;
    if (now >= atOnce) {
      seen.refused += 1;
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Too many requests.', type: 'requests', code: 'rate_limit_exceeded' } }));
      return;
    }
    now += 1;
    seen.first ||= Date.now();
    setTimeout(() => {
      now -= 1;
      seen.last = Date.now();
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content: 'Done.' };
      const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
      response.end(
        JSON.stringify({
          id: 'c',
          object: 'chat.completion',
          created: 0,
          model: 'm',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage,
        }),
      );
    }, ms);
  });
});

process.on('message', () => process.send?.(seen));
server.listen(0, '127.0.0.1', () => process.send?.({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}/v1` }));
