import type { HoldfastClient } from '../../client/connect';
import { createLogger } from '../../host/logger';
import { createApp } from '../../service/http/app';
import type { ToldOperation } from '../../service/http/routes';
import { operationsOf } from '../../service/http/routes';

const client = { withDeadline: (_: number, ask: () => unknown) => ask() } as unknown as HoldfastClient;

export const serviceApp = createApp({ client, agents: [], logger: createLogger({ level: 'silent' }) });

export const operations = operationsOf(serviceApp) as Readonly<Record<string, ToldOperation>>;
