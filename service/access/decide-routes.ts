import type { Hono } from 'hono';
import { z } from 'zod';
import type { HoldfastClient } from '../../client/index';
import type { Principal } from '../../contract/access';
import { isRole, roleForm } from '../../contract/access';
import { duration } from '../../contract/check';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import { codeOf, HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { Json } from '../../contract/messages/messages';
import { isPersonName } from '../../contract/people';
import { checkSite } from './origin';
import { parseForm } from '../http/parse-request';
import { mailedUrl } from '../http/public-url';
import type { RouteAsked } from '../http/routes';
import { ok, Routes } from '../http/routes';
import type { AppParts } from '../parts';
import { answerIn, decisionPage, problemPage, resultPage } from './decide-page';
import type { Access, AccessParts } from './access';
import { whoOf } from './audit';
import type { Link } from './links';
import { ended, principalOf, shownHash } from './links';
import { answerPage } from './page';

const formLimit = 32_768;

const isDuration = (text: string): boolean => duration.problem(text, 'expires') === undefined;

const LinkBody = z.strictObject({
  for: z.string().refine(isPersonName, 'is not a name of 1 to 200 characters'),
  roles: z
    .array(z.string().refine(isRole, `is not ${roleForm}`))
    .max(20)
    .optional(),
  expires: z.string().refine(isDuration, 'is not a duration such as "3d"').optional(),
});

/** The maker gets the URL, and so could decide as anybody of the tenant. Therefore the maker also states the roles. */
export function linkRoutes(parts: AppParts, { links, audit }: Pick<AccessParts, 'links' | 'audit'>): Hono {
  const operation = {
    may: 'links:make',
    summary: 'Makes a link with which one person answers once.',
    body: LinkBody,
    answers: ok('DecisionLink', 'The link. The service keeps no copy.'),
  } as const;
  return new Routes('Interrupts').add('POST /:id/interrupts/:interruptId/links', operation, async (asked) => {
    const { id: run, interruptId: interrupt, client, context } = asked;
    await client.run(run).permit('links:make');
    const url = mailedUrl(parts, context);
    const { for: user, roles = [], expires: within = links.expires } = asked.body;
    const hash = shownHash(await openInterrupt(client, run, interrupt));
    const expires = Date.now() + millisecondsOf(within, 'request-invalid');
    const token = await links.make({ tenant: client.place.tenant, run, interrupt, hash, user, roles, expires });
    void audit.write({ what: 'link-made', ...whoOf(client.caller), run, interrupt, for: user, roles });
    return { url: `${url}/decide/${token}`, expires: new Date(expires).toISOString() };
  }).app;
}

async function openInterrupt(client: HoldfastClient, run: string, id: string): Promise<Interrupt> {
  const open = await client.run(run).interrupts();
  const interrupt = open.find((one) => one.id === id);
  if (interrupt === undefined) throw new HoldfastError('interrupt-unknown', `The run does not wait for an answer to "${id}".`);
  return interrupt;
}

type PageAsked = Pick<RouteAsked<'/:token'>, 'token' | 'client' | 'context'>;

interface AskedPerson {
  readonly link: Link;
  readonly interrupt: Interrupt;
  readonly client: HoldfastClient;
}

const DecideForm = z.strictObject({
  decision: z.enum(['approve', 'reject', 'answer']),
  comment: z.string().optional(),
  answer: z.string().optional(),
});

/** Only POST decides, so scanners of mails may open links. */
export function decideRoutes(parts: AppParts, access: Access): Hono {
  const page = { may: 'anybody', ownBody: DecideForm, anyQuery: true, answers: { 200: { says: 'A page.', type: 'text/html' } } } as const;
  const onPage = (asked: PageAsked, answer: (person: AskedPerson) => MaybePromise<Response>): Promise<Response> =>
    answerPage(asked.context, { logger: parts.logger, referrer: 'no-referrer', problem: problemPage }, async () => {
      const person = await askedPerson(access, asked);
      return person instanceof Response ? person : answer(person);
    });
  return new Routes('Interrupts')
    .add('GET /decide/:token', { ...page, ownBody: undefined, summary: 'Shows the question of a link.' }, (asked) =>
      onPage(asked, ({ interrupt, link }) => asked.context.html(decisionPage(interrupt, link, Date.now()))),
    )
    .add('POST /decide/:token', { ...page, summary: 'Decides with a link.' }, (asked) =>
      onPage(asked, async ({ link, interrupt, client }) => {
        checkSite(asked.context.req.raw);
        const { answer, said } = decisionOf(interrupt, await parseForm(asked.context, formLimit));
        const bound = interrupt.kind === 'approval' ? { inputHash: interrupt.inputHash } : {};
        await access.parts.links.use(link, () => client.run(link.run).resume(interrupt.id, answer, bound));
        return asked.context.html(resultPage(said));
      }),
    ).app;
}

/** A response sends to the login. */
async function askedPerson(access: Access, { token, client: any, context }: PageAsked): Promise<AskedPerson | Response> {
  const { links } = access.parts;
  const link = await links.read(token);
  const person = principalOf(link);
  const client = any.as(access.linked(person));
  const interrupt = (await client.run(link.run).interrupts()).find(({ id }) => id === link.interrupt);
  if (interrupt === undefined) throw ended('is for a question that waits no longer');
  if (shownHash(interrupt) !== link.hash) throw ended('is for other arguments than the arguments that wait now');
  if (!links.needsLogin(interrupt)) return { link, interrupt, client };
  const login = await loginOf(access, context.req.raw);
  // Relative, because a proxy may serve the service below a path.
  if (login === undefined) return context.redirect(`../login?to=${encodeURIComponent(`/decide/${token}`)}`, 303);
  if (login.user !== link.user || login.tenant !== link.tenant)
    throw new HoldfastError('identity-invalid', 'The link is for another person than the login.');
  return { link, interrupt, client: any.as(access.linked({ ...person, proof: login.proof })) };
}

/** Undefined: nobody has logged in. The path would bring the token into the audit log, and POST the check of `Origin`. */
async function loginOf(access: Access, { url, headers }: Request): Promise<Principal | undefined> {
  try {
    return await access.identify(new Request(new URL('/decide', url), { headers }));
  } catch (error) {
    if (codeOf(error) === 'identity-missing' || codeOf(error) === 'identity-invalid') return undefined;
    throw error;
  }
}

interface Said {
  readonly answer: Json;
  readonly said: string;
}

function decisionOf(interrupt: Interrupt, field: (name: string) => string): Said {
  const decision = field('decision');
  const comment = field('comment').trim() || undefined;
  if (interrupt.kind === 'approval') {
    if (decision === 'approve') return { answer: { type: 'approve', ...defined({ comment }) }, said: 'Approved' };
    if (decision === 'reject') return { answer: { type: 'reject', ...defined({ comment }) }, said: 'Rejected' };
  } else {
    const answer = decision === 'answer' ? answerIn(interrupt, field('answer')) : undefined;
    if (answer !== undefined) return { answer, said: 'Answered' };
  }
  throw new HoldfastError('request-invalid', 'The form does not fit the question of the link.');
}
