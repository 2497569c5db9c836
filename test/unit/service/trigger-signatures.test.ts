import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { codeOf } from '../../../contract/errors';
import type { SignatureForm, TriggerOptions } from '../../../service/triggers/options';
import { deliveryIdOf, signatureOf } from '../../../service/triggers/signature';
import { errorSaying } from '../../support/failures';

/** The package has types for ES modules alone. */
const gitHub = jest.requireActual<{
  sign(secret: string, body: string): Promise<string>;
  verify(secret: string, body: string, signature: string): Promise<boolean>;
}>('@octokit/webhooks-methods');

type From = TriggerOptions['from'];

interface Sender {
  readonly from: From;
  readonly secrets: readonly [string, string];
  readonly sign: (body: string | Buffer, secret: string, at: number) => Promise<Record<string, string>> | Record<string, string>;
  readonly isTimed: boolean;
}

const now = Date.parse('2026-11-28T12:00:00Z');
const seconds = (at: number): string => String(Math.floor(at / 1000));
const hmac = (secret: string, parts: readonly (string | Buffer)[], encoding: 'hex' | 'base64' = 'hex'): string =>
  parts.reduce((digest, part) => digest.update(part), createHmac('sha256', secret)).digest(encoding);
const whsec = (byte: number): string => `whsec_${Buffer.alloc(24, byte).toString('base64')}`;
const own: SignatureForm = { signature: 'X-Shop-Signature', encoding: 'base64', id: 'X-Shop-Id' };
const timed: SignatureForm = { signature: 'X-Signature', prefix: 'sha256=', id: (payload) => String(payload), timestamp: 'X-Time' };

const senders: readonly (readonly [string, Sender])[] = [
  [
    'Standard Webhooks',
    {
      from: 'standard',
      secrets: [whsec(1), whsec(2)],
      isTimed: true,
      sign: (body, secret, at) => ({
        'webhook-id': 'msg_1',
        'webhook-timestamp': seconds(at),
        'webhook-signature': new Webhook(secret).sign('msg_1', new Date(at), body),
      }),
    },
  ],
  [
    'GitHub',
    {
      from: 'github',
      secrets: ['first secret', 'second secret'],
      isTimed: false,
      sign: async (body, secret) => ({ 'x-hub-signature-256': await gitHub.sign(secret, String(body)), 'x-github-delivery': '72d3162e' }),
    },
  ],
  [
    'Stripe',
    {
      from: 'stripe',
      secrets: ['whsec_first', 'whsec_second'],
      isTimed: true,
      sign: (body, secret, at) => ({
        'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload: String(body), secret, timestamp: Number(seconds(at)) }),
      }),
    },
  ],
  [
    'Slack',
    {
      from: 'slack',
      secrets: ['first secret', 'second secret'],
      isTimed: true,
      sign: (body, secret, at) => ({
        'x-slack-request-timestamp': seconds(at),
        'x-slack-signature': `v0=${hmac(secret, [`v0:${seconds(at)}:`, body])}`,
      }),
    },
  ],
  [
    'a form without a time',
    {
      from: own,
      secrets: ['first secret', 'second secret'],
      isTimed: false,
      sign: (body, secret) => ({ 'x-shop-signature': hmac(secret, [body], 'base64'), 'x-shop-id': '7' }),
    },
  ],
  [
    'a form with a time',
    {
      from: timed,
      secrets: ['first secret', 'second secret'],
      isTimed: true,
      sign: (body, secret, at) => ({ 'x-signature': `sha256=${hmac(secret, [`${seconds(at)}.`, body])}`, 'x-time': seconds(at) }),
    },
  ],
];

const body = '{"id":"evt_1","event_id":"Ev1","text":"Grüße"}';

function outcomeOf(
  options: Pick<TriggerOptions, 'from' | 'secrets' | 'tolerance'>,
  headers: Record<string, string>,
  sent: string | Buffer,
) {
  try {
    signatureOf(options, headers, now)(Buffer.from(sent));
    return 'taken';
  } catch (error) {
    return codeOf(error);
  }
}

describe.each(senders)('a delivery of %s', (_, { from, secrets, sign, isTimed }) => {
  const both = { from, secrets };

  it('is taken with either secret, and with no other', async () => {
    for (const secret of secrets) expect(outcomeOf(both, await sign(body, secret, now), body)).toBe('taken');
    expect(outcomeOf({ from, secrets: secrets[0] }, await sign(body, secrets[1], now), body)).toBe('delivery-refused');
    expect(outcomeOf({ from, secrets: ['', undefined] }, await sign(body, secrets[0], now), body)).toBe('delivery-refused');
  });

  it('is refused if one byte of the body differs, such as a byte order mark', async () => {
    const headers = await sign(body, secrets[0], now);
    const flipped = Buffer.from(body);
    flipped[3] = (flipped[3] ?? 0) ^ 1;
    for (const other of [flipped, `\ufeff${body}`, `${body}\n`, '']) expect(outcomeOf(both, headers, other)).toBe('delivery-refused');
  });

  it('is taken as the bytes that were signed, also empty or with a byte order mark', async () => {
    for (const sent of ['', `\ufeff${body}`]) {
      const signed = sent === '' && from === 'github' ? { 'x-hub-signature-256': `sha256=${hmac(secrets[0], [''])}` } : undefined;
      expect(outcomeOf(both, signed ?? (await sign(sent, secrets[0], now)), sent)).toBe('taken');
    }
  });

  it('is refused without each of its headers of the signature, and with a header that repeats', async () => {
    const headers = await sign(body, secrets[0], now);
    const names = Object.keys(headers).filter((name) => !['x-github-delivery', 'x-shop-id'].includes(name));
    for (const name of names) {
      const { [name]: value = '', ...rest } = headers;
      expect([name, outcomeOf(both, rest, body)]).toEqual([name, 'delivery-refused']);
      if (!['webhook-signature', 'stripe-signature'].includes(name))
        expect(outcomeOf(both, { ...rest, [name]: `${value}, ${value}` }, body)).toBe('delivery-refused');
      for (const wrong of ['', 'sha256=', `sha256=${'é'.repeat(64)}`, 't=1,v1=', 'v1,', 'v0=zz', 'NaN'])
        expect(outcomeOf(both, { ...rest, [name]: wrong }, body)).toBe('delivery-refused');
    }
  });

  it('is refused outside the window, if the sender signs a time', async () => {
    const expected = isTimed ? 'delivery-refused' : 'taken';
    for (const at of [now - 301_000, now + 301_000]) expect(outcomeOf(both, await sign(body, secrets[0], at), body)).toBe(expected);
    for (const at of [now - 299_000, now + 299_000]) expect(outcomeOf(both, await sign(body, secrets[0], at), body)).toBe('taken');
    if (!isTimed) return;
    expect(outcomeOf({ ...both, tolerance: '10m' }, await sign(body, secrets[0], now - 301_000), body)).toBe('taken');
    const later = await sign(body, secrets[0], now - 301_000);
    const moved = Object.fromEntries(
      Object.entries(later).map(([name, value]) => [name, value.replaceAll(seconds(now - 301_000), seconds(now))]),
    );
    expect(outcomeOf(both, moved, body)).toBe('delivery-refused');
  });
});

type Verdict = (sent: string, headers: Record<string, string>, secret: string) => unknown;

const judges: Readonly<Record<string, Verdict>> = {
  standard: (sent, headers, secret) => new Webhook(secret).verify(sent, headers, { jsonParse: false }),
  github: async (sent, { 'x-hub-signature-256': signature = '' }, secret) => {
    if (!(await gitHub.verify(secret, sent, signature))) throw new Error('refused');
  },
  stripe: (sent, { 'stripe-signature': signature = '' }, secret) => Stripe.webhooks.signature?.verifyHeader(sent, signature, secret, 300),
};

describe.each(senders.filter(([, { from }]) => typeof from === 'string' && from in judges))(
  'the package of %s judges as the service',
  (_, { from, secrets, sign }) => {
    it.each<readonly [string, number, string, string]>([
      ['a good delivery', 0, secrets[0], body],
      ['a late delivery', -301_000, secrets[0], body],
      ['another secret', 0, secrets[1], body],
      ['another body', 0, secrets[0], `${body} `],
    ])('%s', async (_case, offset, secret, sent) => {
      jest.useFakeTimers({ now });
      const headers = await sign(body, secret, now + offset);
      const verdict = await Promise.resolve()
        .then(() => judges[String(from)]?.(sent, headers, secrets[0]))
        .then(
          () => 'taken',
          () => 'delivery-refused',
        );
      jest.useRealTimers();
      expect(verdict).toBe(outcomeOf({ from, secrets: secrets[0] }, headers, sent));
    });
  },
);

it('a missing secret is no key that everybody knows', () => {
  const headers = { 'x-shop-signature': hmac('', [body], 'base64') };
  for (const secrets of ['', undefined, [undefined, '']]) expect(outcomeOf({ from: own, secrets }, headers, body)).toBe('delivery-refused');
});

describe('vectors of the documentation', () => {
  it('GitHub: validating webhook deliveries', () => {
    const headers = { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' };
    expect(outcomeOf({ from: 'github', secrets: "It's a Secret to Everybody" }, headers, 'Hello, World!')).toBe('taken');
  });

  it('Slack: verifying requests', () => {
    const options = { from: 'slack', secrets: '8f742231b10e8888abcd99yyyzzz85a5' } as const;
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    };
    const sent =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA' +
      '&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554' +
      '%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    expect(() => signatureOf(options, headers, 1_531_420_618_000)(Buffer.from(sent))).not.toThrow();
    expect(() => signatureOf(options, headers, 1_531_420_918_001)(Buffer.from(sent))).toThrow('300 s');
  });

  it('a rotation of Stripe and of Standard Webhooks sends two signatures', () => {
    const [stripe, standard] = [hmac('new', [`${seconds(now)}.`, body]), new Webhook(whsec(1)).sign('a', new Date(now), body)];
    const headers = { 'stripe-signature': `t=${seconds(now)},v1=${hmac('old', ['x'])},v1=${stripe},v0=abc` };
    expect(outcomeOf({ from: 'stripe', secrets: 'new' }, headers, body)).toBe('taken');
    const both = {
      'webhook-id': 'a',
      'webhook-timestamp': seconds(now),
      'webhook-signature': `v1a,abc v1,${hmac('old', ['x'], 'base64')} ${standard}`,
    };
    expect(outcomeOf({ from: 'standard', secrets: whsec(1) }, both, body)).toBe('taken');
  });
});

describe('the id of a delivery', () => {
  it.each<readonly [From, string]>([
    ['standard', 'msg_1'],
    ['github', '72d3162e'],
    ['stripe', 'evt_1'],
    ['slack', 'Ev1'],
    [own, '7'],
    [{ ...own, id: (payload, headers) => `${(payload as { id: string }).id}-${headers['x-shop-id']}` }, 'evt_1-7'],
  ])('is where the sender puts it: %j', (from, id) => {
    const headers = { 'webhook-id': 'msg_1', 'x-github-delivery': '72d3162e', 'x-shop-id': '7' };
    expect(deliveryIdOf({ from }, JSON.parse(body), headers)).toBe(id);
  });

  it.each<readonly [string, From, unknown, Record<string, string>]>([
    ['missing', 'stripe', {}, {}],
    ['a number', 'stripe', { id: 7 }, {}],
    ['of a payload that is no object', 'slack', 'text', {}],
    ['a header that repeats', 'github', {}, { 'x-github-delivery': '1, 2' }],
    ['empty', 'github', {}, { 'x-github-delivery': '' }],
    ['a step in a path', 'github', {}, { 'x-github-delivery': '..' }],
    ['too long', { ...own, id: () => 'x'.repeat(201) }, {}, {}],
    ['undefined', { ...own, id: () => undefined }, {}, {}],
  ])('is refused if it is %s', (_, from, payload, headers) => {
    expect(() => deliveryIdOf({ from }, payload as never, headers)).toThrow(expect.objectContaining({ code: 'request-invalid' }));
  });

  it('is refused with the reason if `from.id` throws', () => {
    const id = (payload: unknown): string => (payload as { order: { id: string } }).order.id;
    const refusal = errorSaying('request-invalid', /^The delivery has no id, because `from.id` of the trigger failed: Cannot read/);
    expect(() => deliveryIdOf({ from: { ...own, id } }, {}, {})).toThrow(refusal);
  });
});
