import { builtInWorkerMiddlewareNames } from '../../../contract/built-in-worker-middleware';
import { builtInWorkerMiddleware } from '../../../worker/built-in-worker-middleware';

it('the worker middleware that configurations need not have are those that every worker has', () => {
  expect(builtInWorkerMiddleware().map(({ name }) => name)).toEqual(builtInWorkerMiddlewareNames);
});
