// node openai-responses-kill.mjs BASE_URL: prints KILL in the middle of a stream, reads a line when the service is back, and takes it up where it was left.
import { createInterface } from 'node:readline';
import OpenAI from 'openai';
import { agent, base, finish, flow, ok, refundText, sleep } from './check.mjs';

const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none', maxRetries: 0, timeout: 20_000 });

/** Reads on from an event, as often as it takes. */
async function rest(id, from) {
  const events = [];
  for (;;) {
    const at = events.at(-1)?.sequence_number ?? from;
    try {
      for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: at })) events.push(event);
      if (events.at(-1)?.type === 'response.completed') return events;
    } catch {
      // The service is not back yet.
    }
    await sleep(200);
  }
}

await flow(
  'killed',
  async () => {
    const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
    let before = [];
    // On a machine with much else to do it may be over before the service is killed.
    for (let tries = 0; tries < 5 && !(before.length > 0 && before.at(-1).type !== 'response.completed'); tries++) {
      before = [];
      let isAsked = false;
      try {
        const stream = await client.responses.create({ model: agent, input: refundText, background: true, stream: true });
        for await (const event of stream) {
          before.push(event);
          if (event.type !== 'response.output_item.added' || isAsked) continue;
          isAsked = true;
          console.log('KILL');
        }
      } catch {
        // The service is gone.
      }
      await lines.next();
    }
    const id = before[0].response.id;
    ok('killed: the stream broke before its end', before.at(-1).type !== 'response.completed', before.at(-1));
    const after = await rest(id, before.at(-1).sequence_number);
    const seen = [...before, ...after];
    ok(
      'killed: no event comes twice',
      seen.every((event, at) => at === 0 || event.sequence_number > seen[at - 1].sequence_number),
      seen,
    );
    const all = [];
    for await (const event of await client.responses.retrieve(id, { stream: true })) all.push(event);
    const kept = (events) => events.filter(({ type }) => !type.endsWith('.delta')).map((event) => event.sequence_number);
    ok('killed: none is missing', JSON.stringify(kept(seen)) === JSON.stringify(kept(all)), [kept(seen), kept(all)]);
    const { response } = after.at(-1);
    const whole = await client.responses.retrieve(id);
    ok('killed: the end is that of the response', JSON.stringify(whole.output) === JSON.stringify(response.output), whole.output);
    const asked = response.output.filter(({ type }) => type === 'mcp_approval_request');
    ok('killed: the question stands in it once', asked.length === 1, response.output);
    const input = [{ type: 'mcp_approval_response', approval_request_id: asked[0].id, approve: true }];
    const paid = await client.responses.create({ model: agent, previous_response_id: id, input });
    const refunds = paid.output.filter(({ type, name }) => type === 'mcp_call' && name === 'refund');
    ok('killed: the refund was made once', paid.status === 'completed' && refunds.length === 1, paid.output);
  },
  90_000,
);
finish();
