import { Hono } from 'hono';
import { noRoute } from '../../../service/http/routes';

describe('a path that no route has', () => {
  const app = new Hono().get('/runs/:id', (context) => context.text(''));

  it.each([
    ['/v1/chat/completions', ' The Responses API is served: POST /v1/responses.'],
    ['/v1/chat/completions/', ' The Responses API is served: POST /v1/responses.'],
    ['/runs/r/', ' Did you mean /runs/r?'],
    ['/toString', ''],
  ])('is answered with what is served: %s', (path, hint) => {
    expect(noRoute(app, 'POST', path)).toBe(`There is no route POST ${path}.${hint}`);
  });
});
