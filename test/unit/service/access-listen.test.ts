import { createLogger } from '../../../host/logger';
import { startService } from '../../../service/http/start-service';
import { memoryStore } from '../../support/memory-store';
import { errorSaying } from '../../support/failures';
import { clientWith } from '../../support/service-app';

describe('startService', () => {
  const parts = { port: 0, agents: [], logger: createLogger({ level: 'silent' }), client: clientWith({}) };

  it.each(['0.0.0.0', '::', '203.0.113.7', 'desk.example.com', '127.0.0.1.example.com', '::ffff:127.0.0.1'])(
    'does not listen on %s without access',
    (host) => expect(startService({ ...parts, host })).rejects.toEqual(errorSaying('access-missing', host)),
  );

  it.each<[string, object]>([
    ['127.0.0.1', {}],
    ['localhost', {}],
    ['0.0.0.0', { access: {}, store: memoryStore() }],
  ])('listens on %s with %j', async (host, more) => {
    const service = await startService({ ...parts, ...more, host });
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    await service.close();
  });
});
