/** The shop, its bank and its channel of Slack. The bank pays every request, so a repeated request pays twice. */
import type { Ticket } from '../jobs';
import { serve } from './serve';
import type { Served } from './serve';

export interface Payment {
  readonly key: string;
  readonly kind: string;
  readonly order: string;
  readonly amount: number;
}

interface SlackMessage {
  readonly blocks: readonly { readonly text?: { readonly text: string }; readonly elements?: readonly { readonly url: string }[] }[];
}

export interface Outside extends Served {
  readonly payments: readonly Payment[];
  readonly mails: readonly { readonly key: string; readonly to: string }[];
}

export interface OutsideOptions {
  readonly tickets?: readonly Ticket[];
  /** Gets the texts and the links of a message. */
  readonly onSlack?: (lines: readonly string[]) => void;
}

export async function openOutside({ tickets = [], onSlack = () => undefined }: OutsideOptions = {}): Promise<Outside> {
  const payments: Payment[] = [];
  const mails: { readonly key: string; readonly to: string }[] = [];
  const paid = (at: number) => ({ payment: `p-${at + 1}`, amount: payments[at]?.amount });
  const server = await serve((route, body) => {
    if (route === 'POST /payments') return { json: paid(payments.push(JSON.parse(body) as Payment) - 1) };
    if (route.startsWith('GET /payments/')) {
      const key = decodeURIComponent(route.slice('GET /payments/'.length));
      const at = payments.findIndex((payment) => payment.key === key);
      return at < 0 ? { status: 404, json: {} } : { json: paid(at) };
    }
    if (route === 'POST /mails') {
      const mail = JSON.parse(body) as { key: string; to: string };
      // The same letter is sent once.
      if (!mails.some(({ key }) => key === mail.key)) mails.push(mail);
      return { json: { sent: mail.to } };
    }
    if (route === 'GET /tickets') return { json: tickets };
    if (route !== 'POST /slack') return { status: 404, json: {} };
    const { blocks } = JSON.parse(body) as SlackMessage;
    onSlack(blocks.flatMap(({ text, elements = [] }) => [...(text?.text.split('\n') ?? []), ...elements.map(({ url }) => url)]));
    return { json: {} };
  });
  return { ...server, payments, mails };
}
