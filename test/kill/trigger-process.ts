/** The HTTP service with a trigger, without a worker. Prints `listening`. */
import { connect } from '../../client/connect';
import { createLogger } from '../../host/logger';
import { startService } from '../../service/http/start-service';
import { FileStore } from '../../service/store/file-store';
import { secret } from '../support/trigger-bed';
import { runMain, say } from './program';

export interface TriggerServiceSettings {
  readonly address: string;
  readonly tenant: string;
  readonly taskQueue: string;
  readonly port: number;
  readonly folder: string;
}

async function main({ address, tenant, taskQueue, port, folder }: TriggerServiceSettings): Promise<void> {
  const client = await connect({ server: { address, namespace: 'default' }, tenant, taskQueue });
  await startService({
    client,
    agents: [{ name: 'plain', description: 'Answers.', takesJob: false }],
    logger: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port,
    store: new FileStore(folder),
    triggers: {
      orders: {
        from: 'standard',
        secrets: secret,
        start: ({ payload }) => {
          const { order, kind } = payload as { readonly order: string; readonly kind: string };
          if (kind === 'paid') return undefined;
          return { agent: kind === 'strange' ? 'nobody' : 'plain', input: `Order ${order}`, deadline: '10m' };
        },
      },
    },
  });
  say('listening');
}

runMain(() => main(JSON.parse(process.argv[2] ?? '{}') as TriggerServiceSettings));
