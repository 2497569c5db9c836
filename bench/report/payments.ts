import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Payment {
  readonly run: string;
  readonly turn: number;
  readonly key: string;
}

/** A payment service: it pays each key once, and counts. */
export class Payments {
  private readonly keys = new Set<string>();
  private readonly paid: Payment[] = [];
  private readonly asked: Payment[] = [];

  /** Pays, unless the key was paid before. */
  take(payment: Payment): void {
    this.asked.push(payment);
    if (this.keys.has(payment.key)) return;
    this.keys.add(payment.key);
    this.paid.push(payment);
  }

  /** Runs that asked for the payment of this turn. */
  askedIn(turn: number): number {
    return new Set(this.asked.filter((one) => one.turn === turn).map(({ run }) => run)).size;
  }

  /** Payments of a turn that had been asked for before. */
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

/** Payments behind HTTP, in this process: it outlives the peers. */
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
