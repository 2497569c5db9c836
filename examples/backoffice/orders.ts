import type { Ticket } from './jobs';

export interface Order {
  readonly order: string;
  readonly customer: string;
  readonly item: string;
  readonly total: number;
}

const items = ['teapot', 'kettle', 'tea', 'cup', 'samovar'];

/** Order 17 belongs to customer 17, and every 25th order is large. */
export function findOrder(order: string): Order | undefined {
  const number = Number(order);
  if (!Number.isInteger(number) || number < 1) return undefined;
  return {
    order,
    customer: `customer-${number}`,
    item: items[number % items.length] ?? 'tea',
    total: number % 25 === 0 ? 480 : 10 + (number % 40),
  };
}

/** The ticket is the run's id: the same ticket twice is one run. */
export function startOf(ticket: Ticket) {
  return { id: `ticket-${ticket.ticket}`, input: ticket, values: { customer: findOrder(ticket.order)?.customer ?? 'nobody' } };
}
