/** The shop's back end. */
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { codeOf, connect, errorTable } from 'holdfast/client';
import type { HoldfastClient, ListedRun } from 'holdfast/client';
import type * as agents from './agents';
import { Ticket } from './jobs';
import { findOrder } from './orders';

type Office = HoldfastClient<typeof agents>;

/** Connects with the first request, so that Holdfast may start later. */
let connecting: Promise<Office> | undefined;
const holdfast = (): Promise<Office> => {
  connecting ??= connect<typeof agents>();
  connecting.catch(() => (connecting = undefined));
  return connecting;
};

/** A real shop uses a database. */
const results = new Map<string, string[]>();
const runOf = (ticket: string): string => `ticket-${ticket}`;
const nightOf = (night: string): string => `night=${night}`;

const app = express();
app.use(express.json());

/** The ticket is the run's id: the same ticket twice is one run. */
app.post('/tickets', async (request, response) => {
  const { night, ...body } = request.body as { night?: string };
  const ticket = Ticket.safeParse(body);
  if (!ticket.success) {
    response.status(400).json({ error: ticket.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') });
    return;
  }
  const customer = findOrder(ticket.data.order)?.customer;
  const run = await (
    await holdfast()
  ).start('clerk', ticket.data, {
    id: runOf(ticket.data.ticket),
    values: { customer: customer ?? 'nobody' },
    tags: night === undefined ? [] : [nightOf(night)],
    by: 'shop',
    stream: night === undefined,
    deadline: '14d',
  });
  response.status(run.isNew ? 201 : 200).json({ run: run.id, isNew: run.isNew });
});

app.get('/tickets/:ticket', async (request, response) => {
  const { status, output } = await (await holdfast()).run(runOf(request.params.ticket)).view();
  response.json({ status, output, results: results.get(request.params.ticket) ?? [] });
});

/** The tool closeTicket may repeat this request. */
app.put('/tickets/:ticket/result', (request, response) => {
  const { result } = request.body as { result: string };
  const known = results.get(request.params.ticket) ?? [];
  if (!known.includes(result)) results.set(request.params.ticket, [...known, result]);
  response.json({ closed: request.params.ticket });
});

/** Lists open questions, page by page. */
app.get('/inbox', async (_, response) => {
  const client = await holdfast();
  const waiting: object[] = [];
  let after: string | undefined;
  do {
    const page = await client.interrupts({ agent: 'clerk', limit: 100, ...(after === undefined ? {} : { after }) });
    for (const { runId, interrupt } of page.interrupts)
      if (interrupt.kind === 'approval')
        waiting.push({ run: runId, interrupt: interrupt.id, tool: interrupt.tool, input: interrupt.input });
    after = page.next;
  } while (after !== undefined);
  response.json({ waiting });
});

app.post('/inbox/:run/:interrupt', async (request, response) => {
  const { approved, by, feedback } = request.body as { approved: boolean; by: string; feedback?: string };
  const run = (await holdfast()).run(request.params.run);
  if (approved) await run.approve(request.params.interrupt, { by });
  else await run.reject(request.params.interrupt, feedback, { by });
  response.json({ run: run.id });
});

app.get('/nights/:night', async (request, response) => {
  const client = await holdfast();
  const counts: Record<string, number> = {};
  let after: string | undefined;
  do {
    const page = await client.list({ tag: nightOf(request.params.night), limit: 200, ...(after === undefined ? {} : { after }) });
    for (const { status } of page.runs satisfies readonly ListedRun[]) counts[status] = (counts[status] ?? 0) + 1;
    after = page.next;
  } while (after !== undefined);
  response.json({ night: request.params.night, closed: results.size, counts });
});

/** Errors of Holdfast have stable codes. */
app.use((error: unknown, _: Request, response: Response, next: NextFunction) => {
  if (response.headersSent) return next(error);
  const code = codeOf(error);
  const known = code !== undefined && code in errorTable ? errorTable[code].status : 500;
  response.status(known).json({ error: { code: code ?? 'internal', message: error instanceof Error ? error.message : String(error) } });
});

const server = app.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1', () => {
  console.log(`office  http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void connecting?.then((client) => client.close());
});
