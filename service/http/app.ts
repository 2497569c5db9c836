import { Hono } from 'hono';
import { HoldfastError } from '../../contract/errors';
import type { Logger } from '../../host/logger';
import type { HoldfastClient } from '../../client/index';
import type { AgentSummary } from '../project/load-project';
import type { ModelPrices } from '../../contract/prices';
import type { PushTarget } from '../a2a/push/targets';
import { a2aRoutes } from '../a2a/routes';
import type { AguiOptions } from '../agui/options';
import { aguiRoutes } from '../agui/routes';
import { aiSdkRoutes } from '../ai-sdk/routes';
import type { AiSdkUiOptions } from '../ai-sdk/shown';
import { responseRoutes } from '../responses/routes';
import { allowOrigins } from './allow-origins';
import { checkHost } from './check-host';
import { consoleRoutes } from './console-routes';
import { errorResponse } from './error-response';
import { methodsAt, noRoute } from './route-hints';
import { answerRoutes, inboxRoutes } from './interrupt-routes';
import { openApiRoutes } from './openapi/routes';
import { policyRoutes } from './policy-routes';
import { readiness } from './readiness';
import { agentsIn } from './asked-agent';
import { conversationRoutes } from './conversation-routes';
import { Routes, ok } from './routes';
import { runRoutes } from './run-routes';
import type { ServiceHosting } from './service-routes';
import { serviceRoutes } from './service-routes';

export interface ServiceParts {
  readonly client: HoldfastClient;
  /** A function where they change while the service runs. */
  readonly agents: readonly AgentSummary[] | (() => readonly AgentSummary[]);
  readonly logger: Logger;
  /** For a service on loopback: the names beside loopback's by which it may be addressed. Absent: any name. */
  readonly hosts?: readonly string[];
  /** Sites whose pages may use the service. Default: none. */
  readonly origins?: readonly string[];
  /** Ends the streams of events. */
  readonly closing?: AbortSignal;
  readonly heartbeatMs?: number;
  /** The policies of the configuration. A function where they change while the service runs. */
  readonly policies?: Readonly<Record<string, object>> | (() => Readonly<Record<string, object>> | undefined);
  /** What models cost. Without it no run says what it cost. */
  readonly prices?: ModelPrices | (() => ModelPrices | undefined);
  /** How AG-UI is spoken. */
  readonly agui?: AguiOptions | (() => AguiOptions | undefined);
  /** How AI SDK UI is spoken. */
  readonly aiSdk?: AiSdkUiOptions | (() => AiSdkUiOptions | undefined);
  /** What `GET /service` tells of the process and the project. Default: no more than this service knows by itself. */
  readonly hosting?: ServiceHosting;
  /** Where push notifications of A2A may go, if somebody sends them. A function where it changes while the service runs. Default: nowhere. */
  readonly pushTo?: readonly PushTarget[] | (() => readonly PushTarget[] | undefined);
  /** How long an answer may wait for the Temporal server. Default 30 s. */
  readonly patienceMs?: number;
}

/** These go on for as long as they have to: a stream, a move that waits for a worker with a deadline of its own, and what is done to many runs. */
const patient = /\/(events|upgrade|apply)$|^\/runs\/(cancel|retry)$|^\/usage$|^\/interrupts\/answer$|^\/(agui|aisdk|a2a|v1)\//;

/** The HTTP service as a Hono app. Reading needs no worker; every error is { error: { code, message, fix } }. */
export function createApp(parts: ServiceParts): Hono {
  const { client, hosts, origins = [], logger, patienceMs = 30_000 } = parts;
  const app = new Hono();
  const ready = readiness(client);
  app.onError((error, context) => errorResponse(error, context, logger));
  app.notFound((context) => {
    const { method, path } = context.req;
    const methods = methodsAt(app, path);
    if (methods.length === 0) return errorResponse(new HoldfastError('route-unknown', noRoute(app, method, path)), context, logger);
    context.header('allow', methods.join(', '));
    const message = `The route ${path} takes ${methods.filter((known) => known !== 'HEAD').join(' and ')}, and not ${method}.`;
    return errorResponse(new HoldfastError('method-unknown', message), context, logger);
  });
  if (hosts !== undefined) app.use(checkHost(hosts));
  if (origins.length > 0) app.use(allowOrigins(origins));
  app.use(async (context, next) => {
    await next();
    context.header('x-content-type-options', 'nosniff');
  });
  app.use((context, next) => (patient.test(context.req.path) ? next() : client.withDeadline(Date.now() + patienceMs, next)));
  const own = new Routes('Service')
    .add('GET /health', { summary: 'Says that the process is there.', anyQuery: true, answers: ok('Health', 'It is there.') }, () => ({
      status: 'ok',
    }))
    .add(
      'GET /readyz',
      { summary: 'Says whether the Temporal server answers.', anyQuery: true, answers: ok('Readiness', 'It answers.') },
      async () => {
        await ready();
        return { status: 'ready' };
      },
    )
    .add(
      'GET /agents',
      { summary: 'Lists the agents.', answers: ok('Agents', 'All agents.') },
      () => ({ agents: agentsIn(parts).map(({ tools: _, ...told }) => told) }),
      'Runs',
    );
  app.route('/', own.app);
  app.route('/runs', runRoutes(parts));
  app.route('/runs', answerRoutes(parts));
  app.route('/interrupts', inboxRoutes(parts));
  app.route('/conversations', conversationRoutes(parts));
  app.route('/agui', aguiRoutes(parts));
  app.route('/policies', policyRoutes(parts));
  app.route('/aisdk', aiSdkRoutes(parts));
  app.route('/a2a', a2aRoutes(parts));
  app.route('/v1', responseRoutes(parts));
  app.route('/', serviceRoutes(parts));
  app.route('/', openApiRoutes(app));
  app.route('/', consoleRoutes());
  return app;
}
