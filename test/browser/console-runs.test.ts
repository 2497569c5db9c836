import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { useConsole } from './console-desk';
import type { Visitor } from './console-pages';
import { letGo, violationsOf, visit } from './console-pages';
import { listsProject } from './lists-project';

const project = listsProject();
const desk = useConsole(project.config, () => project.remove());

const refund = { agent: 'support', input: 'Refund order 42, it arrived broken' };
const rowOf = (page: Page, id: string) =>
  page.locator('.run-row').filter({ has: page.locator(`a[href="#/runs/${encodeURIComponent(id)}"]`) });

async function until(id: string, type: 'run-end' | 'interrupt-start'): Promise<void> {
  for await (const event of desk.service.events(id)) if (event.type === type) return;
}
async function waiting(...ids: readonly string[]): Promise<void> {
  for (const id of ids) await desk.service.start({ ...refund, id, tags: ['night'], by: 'carl' });
  await Promise.all(ids.map((id) => until(id, 'interrupt-start')));
}
async function failed(id: string): Promise<void> {
  await desk.service.start({ agent: 'support', input: 'Hello', id, model: 'dear' });
  await until(id, 'run-end');
}
async function completed(id: string): Promise<void> {
  await desk.service.start({ agent: 'ticket', input: { subject: 'a lamp', wish: 'voucher' }, id });
  await until(id, 'run-end');
}

async function visited(hash: string, play: (page: Page) => Promise<void>, visitor: Visitor = {}): Promise<void> {
  await play((await visit(desk.browser, `${desk.bed.console}${hash}`, visitor)).page);
}

async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let tries = 0; tries < 80; tries++) {
    await page.keyboard.press('Tab');
    const said = await page.evaluate<string>(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()`,
    );
    if (name.test(said)) return;
  }
  throw new Error(`Tab does not come to ${String(name)}.`);
}

describe('the list of runs', () => {
  it('filters by what stands in the URL, and keeps a view', async () => {
    await waiting('view-1');
    await failed('view-2');
    await completed('view-3');
    await visited('#/runs?id=view-', async (page) => {
      for (const id of ['view-1', 'view-2', 'view-3']) await rowOf(page, id).waitFor();
      expect(await page.evaluate("getComputedStyle(document.querySelector('.run-row.failed .run-agent')).fontWeight")).toBe('650');
      await rowOf(page, 'view-1').getByText('Approve refund').waitFor();
      await page.setViewportSize({ width: 1440, height: 900 });
      expect((await page.locator('.chip').first().boundingBox())?.height).toBeLessThan(40);
      expect((await page.locator('.run-heads').innerText()).split(/\s*\n\s*/)).toEqual(
        expect.arrayContaining(['Run', 'Status', 'Began', 'Took']),
      );
      await page.getByRole('button', { name: /^Failed/ }).click();
      await rowOf(page, 'view-1').waitFor({ state: 'detached' });
      expect(page.url()).toContain('status=failed');
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByLabel('Name of the view').fill('Broken ones');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('link', { name: 'Clear filters' }).first().click();
      await rowOf(page, 'view-1').waitFor();
      await page.reload();
      await page.getByRole('link', { name: 'Broken ones' }).click();
      await rowOf(page, 'view-2').waitFor();
      expect(new URL(page.url()).hash).toContain('id=view-');
      await page.getByRole('button', { name: 'Remove the view Broken ones' }).click();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('link', { name: 'Broken ones' }).waitFor();
    });
  });

  it('does not move under the pointer, and shows what is new when it is asked', async () => {
    await completed('calm-1');
    await visited('#/runs?id=calm-', async (page) => {
      await rowOf(page, 'calm-1').hover();
      await completed('calm-2');
      await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
      expect(await rowOf(page, 'calm-2').count()).toBe(0);
      await page.getByRole('button', { name: 'Show 1 new' }).click();
      await rowOf(page, 'calm-2').waitFor();
    });
  });

  it('has isolated agents below their run', async () => {
    await desk.service.start({ agent: 'panel', input: 'Tea or coffee?', id: 'panel-1' });
    await until('panel-1', 'run-end');
    await visited('#/runs?id=panel-', async (page) => {
      await rowOf(page, 'panel-1').getByRole('button', { name: 'Show isolated agents of panel-1' }).click();
      await rowOf(page, 'panel-1~pro').waitFor();
      await rowOf(page, 'panel-1~contra').waitFor();
      await rowOf(page, 'panel-1~pro')
        .getByRole('button', { name: /^Show isolated/ })
        .click();
      await page.getByText('No isolated agents.').waitFor();
    });
  });
});

describe('many runs at once', () => {
  it('are cancelled by mouse, after a dry run has said which are refused', async () => {
    await waiting('stop-1', 'stop-2');
    await completed('stop-3');
    await visited('#/runs?id=stop-', async (page) => {
      await rowOf(page, 'stop-3').waitFor();
      await page.getByLabel('Select all that are shown').check();
      await page.getByText('3 selected').waitFor();
      await page.getByRole('button', { name: 'Cancel…' }).click();
      await page.getByRole('dialog').getByText('2 runs would be cancelled.').waitFor();
      await page.getByRole('dialog').getByText('1 is refused.').waitFor();
      await page.getByLabel('What becomes of each run').getByText('run-ended').waitFor();
      expect((await desk.service.view('stop-1')).status).toBe('waiting');
      await page.getByLabel('Why, for their record').fill('No need any more');
      await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
      await page.getByRole('dialog').getByText('2 runs asked to stop.').waitFor();
      await page.getByLabel('What becomes of each run').getByText('asked to stop').first().waitFor();
    });
    await Promise.all(['stop-1', 'stop-2'].map((id) => until(id, 'run-end')));
    expect(await desk.service.view('stop-1')).toMatchObject({ status: 'cancelled', cancelled: { reason: 'No need any more', by: 'ada' } });
  });

  it('are retried by keyboard alone', async () => {
    await failed('again-1');
    await visited('#/runs', async (page) => {
      await page.locator('.run-row').first().waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('again-');
      await page.waitForURL(/id=again-/);
      await rowOf(page, 'again-1').waitFor();
      await tabTo(page, /^Select all/);
      await page.keyboard.press('j');
      await page.locator('.run-row.current').waitFor();
      await page.keyboard.press('x');
      await page.getByText('1 selected').waitFor();
      await tabTo(page, /^Retry…/);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByText('1 run would go on.').waitFor();
      await tabTo(page, /^Retry 1 run/);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByText('1 run went on.').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });
    const log = [];
    for await (const event of desk.service.events('again-1')) log.push(event);
    expect(log.filter(({ type }) => type === 'run-retry')).toEqual([expect.objectContaining({ by: 'ada' })]);
  });
});

describe('trying an agent', () => {
  it('talks by keyboard alone, and answers what asks a person where it asks', async () => {
    await visited('#/try/support', async (page) => {
      await tabTo(page, /^Message$/);
      await page.keyboard.type('Refund order 42, it arrived broken');
      await page.keyboard.press('Enter');
      const asked = page.getByRole('group', { name: 'Waits for people' });
      await asked.getByRole('button', { name: 'Approve' }).waitFor();
      await page.reload();
      await asked.getByText('refund').first().waitFor();
      await page.getByLabel('What was said').focus();
      await tabTo(page, /^Approve/);
      await page.keyboard.press('Enter');
      await asked.getByText('You approve …').waitFor();
      await letGo(page);
      await asked.getByText('You approve: done').waitFor();
      await page.locator('.line.talk-agent').last().waitFor();
      await page.getByLabel('Message', { exact: true }).fill('Thank you');
      await page.keyboard.press('Enter');
      await page.locator('.line.talk-user').nth(1).getByText('Thank you').waitFor();
      await page.getByRole('button', { name: 'New conversation' }).click();
      await page.getByText(/^Say something\./).waitFor();
    });
  });

  it('makes a form of the schema of a job, and its request as curl and as a command is the same run', async () => {
    const subject = `it's "bad" $HOME \`id\` \\ !x`;
    await visited('#/try/ticket', async (page) => {
      await page.getByRole('button', { name: 'Start run' }).click();
      await page.getByText(/^The job does not fit/).waitFor();
      await page.getByLabel('subject').fill(subject);
      await page.getByLabel('refund', { exact: true }).check();
      await page.getByText('Start options').click();
      await page.getByLabel('Id', { exact: true }).fill('job-1');
      await page.getByLabel('Tags', { exact: true }).fill('one, two');
      await page.getByLabel('Values', { exact: true }).fill('{ "tenant": "it\'s" }');
      await page.getByRole('button', { name: 'Start run' }).click();
      await page.getByLabel('Started runs').getByRole('link', { name: 'job-1' }).waitFor();
      const curl = (await page.locator('pre.code').textContent()) ?? '';
      const answer = spawnSync('bash', ['-c', curl], { encoding: 'utf8' });
      expect(JSON.parse(answer.stdout)).toEqual({ id: 'job-1', isNew: false, agent: 'ticket' });
      await page.getByRole('button', { name: 'CLI' }).click();
      const command = ((await page.locator('pre.code').textContent()) ?? '').replace(
        /^npx holdfast/,
        `node ${resolve(__dirname, '..', '..', 'dist', 'cli', 'main.js')}`,
      );
      const ran = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
      expect([ran.status, ran.stderr]).toEqual([0, expect.not.stringContaining('rror')]);
      await page.getByRole('button', { name: 'TypeScript' }).click();
      await page.locator('pre.code').getByText("import { ServiceClient } from 'holdfast/http'").waitFor();
    });
    expect(await desk.service.view('job-1')).toMatchObject({ tags: ['one', 'two'], startedBy: 'ada' });
    expect(JSON.stringify(await desk.service.transcript('job-1'))).toContain(JSON.stringify(subject).slice(1, -1));
  });
});

describe('the page of the service', () => {
  it('says what is served, and who has used how much', async () => {
    await completed('used-1');
    await visited('#/service', async (page) => {
      const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'support', exact: true }) });
      for (const text of ['lookupOrder', 'refund', 'approval', 'default']) await row.getByText(text, { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Tools', exact: true }).click();
      await page.getByRole('row').filter({ hasText: 'Pays money back' }).getByText('idempotent').waitFor();
      await tabTo(page, /^Policies$/);
      await page.keyboard.press('Enter');
      await page.getByText(/^The configuration has no policies/).waitFor();
      await tabTo(page, /^Models and limits$/);
      await page.keyboard.press('Enter');
      await page.getByRole('row').filter({ hasText: 'openai/*' }).getByText('300').waitFor();
      await tabTo(page, /^Builds$/);
      await page.keyboard.press('Enter');
      await page.getByRole('row').getByText('newest', { exact: true }).waitFor();
      await tabTo(page, /^Usage$/);
      await page.keyboard.press('Enter');
      const used = page.getByRole('row').filter({ hasText: 'ticket' });
      await used.waitFor();
      expect(Number((await used.getByRole('cell').nth(1).textContent())?.replace(/\D/g, ''))).toBeGreaterThan(0);
      await page.getByRole('button', { name: 'By day' }).click();
      await page.getByRole('row').getByText(new Date().toISOString().slice(0, 10)).waitFor();
    });
  });
});

const wide = ['#/runs?id=axe-', '#/try/support', '#/try/ticket', '#/service', '#/service?tab=tools', '#/service?tab=usage'];
const narrow = ['#/runs?id=axe-', '#/try/ticket', '#/service'];

describe.each(['light', 'dark'] as const)('with the %s theme', (colorScheme) => {
  it.each([
    [1280, wide],
    [390, narrow],
  ])('axe finds nothing on a page of %d pixels', async (width, hashes) => {
    const id = `axe-${colorScheme}-${width}`;
    await failed(id);
    await visited(
      hashes[0] ?? '',
      async (page) => {
        for (const hash of hashes) {
          await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
          await page.locator('.run-row, .code, .table').first().waitFor();
          expect({ hash, found: await violationsOf(page) }).toEqual({ hash, found: [] });
        }
        await page.evaluate(`location.hash = '#/runs?id=${id}'`);
        await rowOf(page, id).getByRole('checkbox').check();
        await page.getByRole('button', { name: 'Cancel…' }).click();
        await page.getByRole('dialog').getByText('1 is refused.').waitFor();
        expect(await violationsOf(page)).toEqual([]);
      },
      { colorScheme, width },
    );
  });
});

// Last, because the service is another process afterwards.
it('moves runs to a newer build, and says which build drains', async () => {
  await waiting('move-1', 'move-2');
  await desk.bed.kill();
  project.change('You are a very careful support agent. Look an order up before you refund it.');
  await desk.bed.start();
  await visited('#/service?tab=builds', async (page) => {
    await page.getByRole('row').getByText('draining', { exact: true }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByLabel('Search by id').fill('move-');
    await rowOf(page, 'move-2').waitFor();
    await page.waitForURL(/id=move-/);
    await page.getByLabel('Select all that are shown').check();
    await page.getByRole('button', { name: 'Upgrade…' }).click();
    await page.getByRole('dialog').getByText('2 runs would be moved.').waitFor();
    await page.getByRole('button', { name: 'Upgrade 2 runs' }).click();
    await page.getByRole('dialog').getByText('2 runs moved to the newest build.').waitFor();
  });
});
