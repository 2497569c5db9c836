import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Payment {
  readonly run: string;
  readonly turn: number;
  readonly key: string;
}

export class Payments {
  private readonly keys = new Set<string>();
  private readonly paid: Payment[] = [];
  private readonly asked: Payment[] = [];

  take(payment: Payment): void {
    this.asked.push(payment);
    if (this.keys.has(payment.key)) return;
    this.keys.add(payment.key);
    this.paid.push(payment);
  }

  askedIn(turn: number): number {
    return new Set(this.asked.filter((one) => one.turn === turn).map(({ run }) => run)).size;
  }

  get askedAgain(): number {
    return again(this.asked);
  }

  get paidAgain(): number {
    return again(this.paid);
  }
}

function again(payments: readonly Payment[]): number {
  return payments.length - new Set(payments.map(({ run, turn }) => `${run} ${turn}`)).size;
}

/** The payments outlive the peers. */
export async function openPayments(): Promise<{ readonly payments: Payments; readonly url: string; close(): void }> {
  const payments = new Payments();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      payments.take(JSON.parse(body) as Payment);
      response.end('paid');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    payments,
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
