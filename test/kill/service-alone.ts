/** The HTTP service without a worker. Prints `listening`. */
import { connect } from '../../client/connect';
import { createLogger } from '../../host/logger';
import { startService } from '../../service/http/start-service';
import { drainOnSigterm, runMain } from './program';

export interface ServiceAloneSettings {
  readonly address: string;
  readonly taskQueue: string;
  readonly port: number;
}

async function main({ address, taskQueue, port }: ServiceAloneSettings): Promise<void> {
  const client = await connect({ server: { address, namespace: 'default' }, taskQueue });
  const logger = createLogger({ level: 'silent' });
  const agents = [{ name: 'plain', description: 'Answers.', takesJob: false }];
  const service = await startService({ client, agents, logger, host: '127.0.0.1', port });
  drainOnSigterm(async () => {
    await service.close();
    await client.close();
  });
  process.stdout.write('listening\n');
}

runMain(() => main(JSON.parse(process.argv[2] ?? '{}') as ServiceAloneSettings));
