/** Takes notices of Holdfast, and tells each once. Environment: NOTICE_SECRET and PORT. */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Webhook } from 'standardwebhooks';
import { messageOf } from './message';
import type { Notice } from './message';

type Message = ReturnType<typeof messageOf>;

export function receiveNotices(tell: (message: Message, id: string) => Promise<void>): void {
  const sender = new Webhook(process.env['NOTICE_SECRET'] ?? '');
  /** By id. A program with a database keeps the ids there, also over a restart. */
  const told = new Map<string, Promise<void>>();
  const app = express();
  app.post('/', express.text({ type: () => true, limit: '1mb' }), async (request, response) => {
    const id = String(request.headers['webhook-id']);
    let notice: Notice;
    try {
      notice = sender.verify(String(request.body), request.headers as Record<string, string>) as Notice;
    } catch (error) {
      return void response.status(401).send(String(error));
    }
    const telling = told.get(id) ?? tell(messageOf(notice), id);
    told.set(id, telling);
    try {
      await telling;
      response.sendStatus(204);
    } catch (error) {
      // Holdfast sends the notice again.
      told.delete(id);
      response.status(502).send(String(error));
    }
  });
  const server = app.listen(Number(process.env['PORT'] ?? 4100), '127.0.0.1', () => {
    console.log(`notices  http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
}
