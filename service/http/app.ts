import type { MiddlewareHandler } from 'hono';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { KnownCaller } from '../../client/connection/authority';
import type { Me } from '../../contract/access';
import { allActions } from '../../contract/access';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { HoldfastClient } from '../../client/index';
import { readConfiguration } from '../../host/configuration';
import type { AppParts, ServiceParts } from '../parts';
import { AccessGate } from '../access/gate';
import type { AccessParts } from '../access/access';
import { openAccess } from '../access/open-access';
import { a2aRoutes } from '../a2a/routes';
import { aguiRoutes } from '../agui/routes';
import { aiSdkRoutes } from '../ai-sdk/routes';
import { mcpRoutes } from '../mcp/routes';
import { responseRoutes } from '../responses/routes';
import type { FeedLog } from '../feed/feed-log';
import { Feeder } from '../feed/feeder';
import { keepMsOf } from '../feed/feed-options';
import { feedRoutes } from '../feed/feed-routes';
import { checkHost } from './check-host';
import { batchRoutes } from '../batches/routes';
import { consoleRoutes } from './console-routes';
import { errorResponse, shownPath } from './error-response';
import { methodsAt, noRoute, Routes, ok } from './routes';
import { answerRoutes, inboxRoutes } from './interrupt-routes';
import { openApiRoutes } from './openapi/routes';
import { policyRoutes } from './policy-routes';
import { agentsIn } from './asked-agent';
import { conversationRoutes } from './conversation-routes';
import { runRoutes } from './run-routes';
import { scheduleRoutes } from './schedule-routes';
import { serviceRoutes } from './service-routes';
import { noticeSender } from '../notices/notice-body';
import { Notifier } from '../notices/notifier';
import { noticesSince, tenantsOfNotices } from '../notices/outbox';
import { noticeRoutes } from '../notices/routes';
import type { SenderSettings } from '../notices/sender';
import { triggerRoutes } from '../triggers/routes';
import { openStore } from '../store/open-store';

/** Without the common deadline: streams, batches, bulk requests, and moves that wait for a worker. */
const patient =
  /\/(events|events\/stream|upgrade|apply)$|^\/runs\/(cancel|retry)$|^\/batches|^\/usage$|^\/mcp$|^\/interrupts\/answer$|^\/(agui|aisdk|a2a|v1)\//;

/**
 * The HTTP service as a Hono app. Reading needs no worker. Errors have the form `{ error: { code, message, fix } }`.
 * @example
 * import { serve } from '@hono/node-server';
 *
 * const { agents } = await loadProject('holdfast.config.ts');
 * const app = createApp({ client, agents, logger: createLogger() });
 * serve({ fetch: app.fetch, port: 8080 });
 */
export function createApp(given: ServiceParts): Hono {
  const { client, access, ...rest } = given;
  const { hosts, origins = [], logger, closing = new AbortController().signal, heartbeatMs = 15_000, patienceMs = 30_000 } = rest;
  const { store, close } = openStore(rest.store, readConfiguration());
  closing.addEventListener('abort', close, { once: true });
  const parts: AppParts = { ...rest, closing, heartbeatMs, patienceMs, store, ownTenant: () => client.place.tenant };
  const app = new Hono();
  app.onError((error, context) => errorResponse(error, context, logger));
  app.notFound((context) => {
    const { method, path } = context.req;
    const methods = methodsAt(app, path);
    const shown = shownPath(context);
    if (methods.length === 0) return errorResponse(new HoldfastError('route-unknown', noRoute(app, method, shown)), context, logger);
    context.header('allow', methods.join(', '));
    const message = `The route ${shown} takes ${methods.filter((known) => known !== 'HEAD').join(' and ')}, and not ${method}.`;
    return errorResponse(new HoldfastError('method-unknown', message), context, logger);
  });
  if (hosts !== undefined) app.use(checkHost(hosts));
  if (origins.length > 0) app.use(allowOrigins(origins));
  app.use(async (context, next) => {
    await next();
    context.header('x-content-type-options', 'nosniff');
  });
  const opened = access === undefined ? undefined : openAccess(access, parts);
  const send = feedAndNotices(client, parts, opened?.access.parts);
  app.use(new AccessGate(client, opened?.access).open);
  app.use((context, next) => {
    const { path } = context.req;
    const isPatient = patient.test(path) && !path.startsWith('/v1/triggers/');
    return isPatient ? next() : client.withDeadline(Date.now() + patienceMs, next);
  });
  app.route('/', ownRoutes(parts, client));
  app.route('/runs', runRoutes(parts));
  app.route('/runs', answerRoutes());
  app.route('/events', feedRoutes(parts));
  app.route('/notices', noticeRoutes(parts, send));
  app.route('/batches', batchRoutes(parts));
  app.route('/interrupts', inboxRoutes(parts));
  app.route('/conversations', conversationRoutes(parts));
  app.route('/agui', aguiRoutes(parts));
  app.route('/policies', policyRoutes(parts));
  app.route('/schedules', scheduleRoutes(parts));
  app.route('/aisdk', aiSdkRoutes(parts));
  app.route('/a2a', a2aRoutes(parts));
  app.route('/v1', responseRoutes(parts));
  app.route('/', mcpRoutes(parts, access?.issuers ?? []));
  app.route('/', triggerRoutes(parts));
  app.route('/', serviceRoutes(parts));
  opened?.mount(app);
  app.route('/', openApiRoutes(app));
  app.route('/', consoleRoutes());
  return app;
}

/** Begins to collect events for the feed and for notices. Returns how a notice is sent. */
function feedAndNotices(client: HoldfastClient, parts: AppParts, access: AccessParts | undefined): SenderSettings['send'] {
  const { store, logger, notify: receivers = [], publicUrl, ownUrl, closing } = parts;
  if (receivers.length > 0 && publicUrl === undefined && ownUrl === undefined)
    throw new HoldfastError('config-invalid', '`notify` needs `http.publicUrl`, because the service listens for other machines.');
  const send = noticeSender(
    { client, store, logger, url: () => publicUrl?.replace(/\/+$/, '') ?? ownUrl?.(), ...defined({ access }) },
    receivers,
  );
  const notices = {
    tenants: () => tenantsOfNotices(store),
    notifierOf: (log: FeedLog, signal: AbortSignal) => new Notifier({ store, logger, receivers, send }, log, signal),
  };
  if (receivers.length > 0) void noticesSince(store, Date.now()).catch(() => undefined);
  if (parts.feed !== undefined || receivers.length > 0) {
    const feeder = new Feeder({
      source: client.feedSource,
      store,
      logger,
      keepMs: keepMsOf(parts.feed ?? {}),
      ...(receivers.length > 0 ? { notices } : {}),
    });
    void feeder.run(closing);
  }
  return send;
}

/** Pages of other sites get no answers, and send no JSON. */
function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  const known = new Set(origins.map((origin) => origin.toLowerCase()));
  return cors({
    origin: (origin) => (known.has('*') || known.has(origin.toLowerCase()) ? origin : null),
    allowMethods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    maxAge: 600,
  });
}

function ownRoutes(parts: AppParts, client: HoldfastClient): Hono {
  const ready = readiness(client);
  const health = {
    may: 'anybody',
    summary: 'Says that the process is there.',
    anyQuery: true,
    answers: ok('Health', 'It is there.'),
  } as const;
  const readyz = {
    may: 'anybody',
    summary: 'Says whether the Temporal server answers.',
    anyQuery: true,
    answers: ok('Readiness', 'It answers.'),
  } as const;
  const agents = { may: 'runs:read', summary: 'Lists the agents.', answers: ok('Agents', 'All agents.') } as const;
  const me = { may: 'identified', summary: 'Says who calls, and what the caller may do.', answers: ok('Me', 'The caller.') } as const;
  return new Routes('Service')
    .add('GET /me', me, ({ client: { caller, place } }) => meOf(caller, place.tenant))
    .add('GET /health', health, () => ({ status: 'ok' }))
    .add('GET /readyz', readyz, async () => {
      await ready();
      return { status: 'ready' };
    })
    .add('GET /agents', agents, () => ({ agents: agentsIn(parts).map(({ tools: _, ...told }) => told) }), 'Runs').app;
}

function meOf(caller: KnownCaller | undefined, tenant: string): Me {
  if (caller === undefined) return { tenant, roles: [], may: allActions };
  const { user, roles, proof, may } = caller;
  return { tenant, user, roles, proof, may: [...may] };
}

const keptMs = 1000;
const patienceMs = 2000;

/** Asks the Temporal server at most once a second. Rejects with 'server-unreachable' after two seconds. */
export function readiness(client: Pick<HoldfastClient, 'check'>, now: () => number = () => performance.now()): () => Promise<void> {
  let last: { readonly at: number; readonly answer: Promise<void> } | undefined;
  return () => {
    if (last === undefined || now() - last.at >= keptMs) last = { at: now(), answer: client.check(patienceMs) };
    return last.answer;
  };
}
