/** Adds what became of tickets to a file. May be started at any time, also again. Argument: the file. Environment: HOLDFAST_URL and HOLDFAST_KEY. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { ServiceClient } from 'holdfast/http';

const [file = 'results.jsonl'] = process.argv.slice(2);
const { HOLDFAST_URL = 'http://127.0.0.1:4747', HOLDFAST_KEY = '' } = process.env;
const holdfast = new ServiceClient(HOLDFAST_URL, { key: HOLDFAST_KEY });

/** The cursor of the last line. */
function cursor(): { readonly since?: string } {
  const last = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) : undefined;
  return last === undefined ? {} : { since: (JSON.parse(last) as { cursor: string }).cursor };
}

async function main(): Promise<void> {
  for (let from = cursor(), more = true; more;) {
    const page = await holdfast.feed({ agent: 'clerk', type: ['run-end'], ...from });
    for (const { cursor, run, event } of page.events)
      if (event.type === 'run-end')
        appendFileSync(file, `${JSON.stringify({ cursor, run, status: event.status, output: event.output })}\n`);
    from = { since: page.next };
    more = page.more;
  }
}

void main();
